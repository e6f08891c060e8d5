"""A ready toolbox: six tools that most agents want, each the model of a well-written contract.

Takes: nothing; name `ringfence.tools` under `tools.modules`, or hand the tools over in code.  Gives: six `Tool` values.
Never: reaches more than the agent that calls may; each list of paths, hosts and binaries is the agent's own.
"""

from ringfence.tools.commands import run_command
from ringfence.tools.fetching import fetch_url
from ringfence.tools.python_code import run_python
from ringfence.tools.reading import read_file
from ringfence.tools.searching import search_files
from ringfence.tools.writing import write_file

__all__ = ["fetch_url", "read_file", "run_command", "run_python", "search_files", "write_file"]
