"""sandlock: Landlock and system call filters with a supervisor, from a Python library.

Takes: a call.  Gives: a command line that starts `sandlock_run.py`.  Never: network rules; none means none.
"""

from __future__ import annotations

import sys

from bench.peers.ground import PEERS, ROOT, Call, Ground
from bench.peers.peer import Peer

LIBRARY = PEERS / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
_TELL_VERSION = "import sys; sys.path.insert(0, sys.argv[1]); from sandlock._version import __version__ as v; print(v)"


def _command(ground: Ground, call: Call) -> tuple[str, ...]:
    script = str(ROOT / "bench" / "peers" / "sandlock_run.py")
    shown = ":".join(ground.shown)
    return (ground.python, "-B", script, str(LIBRARY), shown, call.scratch, *call.words(ground, scratch=call.scratch))


SANDLOCK = Peer(
    name="sandlock",
    program="sandlock",
    places=(LIBRARY,),
    version=(sys.executable, "-c", _TELL_VERSION, str(LIBRARY)),
    configuration="`Sandbox(fs_readable=[/usr, /lib, /lib64, /bin, /etc, /proc, /dev, packages], "
    "fs_writable=[scratch], workdir=scratch, max_disk='64M', clean_env=True, no_coredump=True, max_memory='256M', "
    "max_processes=32, max_open_files=128)`",
    documented="the quick start of its page on PyPI, and the limits it lists",
    not_meant={"surface": "it runs programs; its filter is a list of what is refused"},
    command=_command,
)  # fmt: skip
