"""The parts of a contract that are spelled alike wherever one is written down.

Takes: plain data.  Gives: models in which every field was read.  Never: ignores a field that it does not know.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WrittenRetry(Strict):
    attempts: int
    backoff: float


class WrittenLimits(Strict):
    wall_seconds: float | None = None
    cpu_seconds: float | None = None
    memory_mb: int | None = None
    pids: int | None = None
    disk_mb: int | None = None
    output_kb: int | None = None
