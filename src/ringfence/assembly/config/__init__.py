"""The config file, read whole: either every line of it is understood, or nothing is loaded."""

from __future__ import annotations

from ringfence.assembly.config.load import load_config
from ringfence.assembly.config.model import Config
from ringfence.assembly.config.problems import Problem
from ringfence.assembly.config.schema import config_schema

__all__ = ["Config", "Problem", "config_schema", "load_config"]
