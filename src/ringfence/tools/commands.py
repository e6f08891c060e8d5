"""`run_command`: one program of the agent's list, with a list of arguments.

Takes: a program's name and its arguments.  Gives: how it ended and what it said.  Never: goes through a shell, or
starts what the agent's list does not name; the kernel holds that for whatever the program starts, too.
"""

from __future__ import annotations

import subprocess
from typing import Annotated

from pydantic import BaseModel, Field

from ringfence import FROM_AGENT, Context, Files, Limits, Processes, Sink, tool
from ringfence.errors import CallFailed
from ringfence.tools.texts import shown

MOST_BYTES = 200_000
_NO_NUL = r"^[^\x00]*$"

Argument = Annotated[str, Field(max_length=8_192, pattern=_NO_NUL)]


class Ended(BaseModel):
    """How a program ended."""

    code: int = Field(description="Its exit code; 0 is success. Below 0, the signal that ended it.")
    stdout: str
    stderr: str
    cut: bool = Field(description="Whether some of what it wrote was left out because it is too long.")


@tool(
    safety="write",
    idempotency="optional",
    needs=[Processes(FROM_AGENT), Files(read=FROM_AGENT, write=FROM_AGENT)],
    limits=Limits(wall_seconds=130, cpu_seconds=60, memory_mb=512, pids=64, output_kb=1_024),
)
def run_command(
    ctx: Context,
    program: Annotated[
        str,
        Field(min_length=1, max_length=1_024, pattern=_NO_NUL, description="A program of the list.", examples=["git"]),
        Sink("binary"),
    ],
    arguments: Annotated[
        list[Argument],
        Field(max_length=128, description="Its arguments, each as it is: no shell reads them.", examples=[["status"]]),
    ] = [],  # noqa: B006  never changed, and part of the schema
    stdin: Annotated[str, Field(max_length=100_000, description="What it reads on standard input.")] = "",
    seconds: Annotated[int, Field(ge=1, le=120, description="When it is ended if it has not by then.")] = 30,
) -> Ended:
    """Run one of the programs that this agent may start, in the workspace.

    Arguments are passed on one by one: there are no pipes, wildcards or variables. It has the agent's files and no
    network.
    """
    try:
        done = ctx.processes.run([program, *arguments], input=stdin, timeout=seconds, keep=MOST_BYTES)
    except subprocess.TimeoutExpired:
        remedy = "give it less to do, or more `seconds`"
        raise CallFailed(f"`{program}` did not end within {seconds} seconds", remedy=remedy) from None
    return Ended(code=done.code, stdout=shown(done.stdout), stderr=shown(done.stderr), cut=done.dropped > 0)
