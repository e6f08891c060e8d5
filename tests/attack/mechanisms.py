"""The walls of a jail, one line each: take one out, and an attack test or the posture check goes red.

Takes: nothing.  Gives: `MECHANISMS`, in the form of the spine's removals.
Never: removes anything itself; `test_mechanisms.py` does, on a copy.
"""

from __future__ import annotations

from tests.architecture.removals import Removal

JAIL = "tests/integration/sandbox"
CALL = f"{JAIL}/test_calls.py"
LIMITS = f"{JAIL}/test_limits.py"
ISOLATION = f"{JAIL}/test_isolation.py"
POSTURE = f"{JAIL}/test_posture.py"
TABLE = "tests/attack/test_jail_table.py"
BLANKS = f"{JAIL}/test_blanks.py"
FILES = f"{JAIL}/test_files.py"
PROGRAMS = f"{JAIL}/test_processes.py"
TOOLMD = "tests/acceptance/toolmd/test_tool_folders.py"


def _wall(id_: str, file: str, find: str, put: str, *tests: str) -> Removal:
    return Removal(id=id_, file=file, find=find, put=put, tests=tests)


MECHANISMS: tuple[Removal, ...] = (
    _wall("SBX-3", "inside/forkserver.py", "    | namespaces.NEW_NETWORK\n", "", CALL),
    _wall("SBX-3", "inside/forkserver.py", "    | namespaces.NEW_IPC\n", "", CALL, TABLE),
    _wall("SBX-3", "inside/forkserver.py", "    | namespaces.NEW_HOSTNAME\n", "", CALL),
    _wall("SBX-2", "inside/warden.py", "        limits.close_all_except((0, 1, 2, orders.fileno(), life))\n", "", BLANKS),
    _wall("SBX-3", "inside/forkserver.py", "            nursery.clear()\n", "            pass\n", BLANKS),
    _wall("SBX-2", "inside/filters.py", " | namespaces.NEW_PIDS |", " |", CALL),
    _wall("SBX-2", "inside/filters.py", " | namespaces.NEW_MOUNTS |", " |", CALL),
    _wall("SBX-2", "inside/filters.py", " | namespaces.NEW_IPC\n", "\n", CALL),
    _wall("SBX-3", "inside/root.py", "else mounts.READ_ONLY_TREE)", "else mounts.DEVICE_FILE)", CALL, TABLE),
    _wall("SBX-3", "inside/root.py", '    mounts.make_read_only("/")\n', "", CALL, TABLE),
    _wall("SBX-3", "inside/root.py", "    mounts.enter_root(_NEW_ROOT)\n", "    os.chroot(_NEW_ROOT)\n", CALL, TABLE),
    _wall("SBX-3", "inside/zygote.py", "    namespaces.become(INNER_ID, gid=INNER_ID)\n", "", CALL),
    _wall("SBX-3", "inside/zygote.py", '    namespaces.set_dumpable("hidden")\n', "", f"{JAIL}/test_ordinary_user.py"),
    _wall("SBX-3", "inside/zygote.py", "    limits.set_no_new_privileges()\n", "", CALL),
    _wall("SBX-3", "inside/zygote.py", "    seccomp.install(filters(layout.binds, layout.clients).stage_a)\n", "", CALL),
    _wall("SBX-2", "inside/zygote.py", "    os.environ.clear()\n", '    os.environ["LEFT"] = "over"\n', CALL, TABLE),
    _wall("SBX-2", "inside/spare.py", "    mounts.mount_scratch(\n        SCRATCH,", "    bool(SCRATCH) or mounts.mount_scratch(\n        SCRATCH,", CALL, ISOLATION),
    _wall("SBX-2", "inside/spare.py", '    mounts.mount_proc("/proc")\n', "", CALL),
    _wall("SBX-3", "inside/spare.py", '    namespaces.set_dumpable("hidden")\n', "", CALL, ISOLATION, TABLE),
    _wall("SBX-3", "inside/spare.py", "    limits.apply(resource_limits(layout.bounds))\n", "", CALL, LIMITS),
    _wall("SBX-3", "inside/spare.py", "    _restrict_files(layout)\n    limits", "    limits", CALL, TABLE),
    _wall("SBX-3", "inside/spare.py", "    limits.drop_capabilities()\n", "", CALL),
    _wall("SBX-2", "inside/spare.py", "    limits.close_all_except(_KEPT)\n", "", CALL),
    _wall("SBX-3", "inside/spare.py", "    seccomp.install(filters(layout.binds, layout.clients).stage_b)\n", "", CALL),
    _wall("SBX-2", "sandbox/forkserver.py", "                env={},\n", "", CALL, TABLE),
    _wall("SBX-6", "sandbox/posture.py", '    _refuse(problems, who="a spare")\n', "", POSTURE, "tests/attack/test_import_time.py"),
    _wall("SBX-6", "sandbox/posture.py", '    _refuse(problems, who="a zygote")\n', "", POSTURE, "tests/attack/test_import_time.py"),
    _wall("SBX-6", "sandbox/posture.py", '    _refuse(problems, who="the jail, measured from inside,")\n', "", POSTURE),
    _wall("SBX-4", "inside/grants.py", "    mounts.restrict_tree(tree, attributes=_ATTRIBUTES[granted.access])\n", "", FILES),
    _wall("SBX-4", "inside/grants.py", "        _map(tree, owner=(seen.st_uid, seen.st_gid), becomes=owner_becomes)\n", "        pass\n", FILES),
    _wall("SBX-4", "kernel/landlock.py", "WRITE = READ | mask(", 'WRITE = READ | mask("make_sym", ', FILES, TABLE),
    _wall("SBX-5", "inside/spare.py", 'code="refused" if layout.imports == "in every call" else "allowed"', 'code="allowed"', PROGRAMS, TABLE),
    _wall("SBX-5", "inside/root.py", "    _hide(layout.hidden)\n", "", TABLE),
    _wall("SBX-5", "inside/root.py", "attributes=mounts.FOR_READING if path in without_code else", "attributes=", TABLE),
    _wall("SBX-5", "kernel/allowlist_processes.py", "ArgumentCheck(alternatives=((A_THREAD,), (_A_PROCESS,)))),", "),", PROGRAMS, TABLE),
    _wall("SBX-5", "kernel/allowlist_processes.py", "could name what is in memory only\", _NO_FLAGS),", "could name what is in memory only\"),", PROGRAMS, TABLE),
    _wall("CON-11", "inside/entry.py", "            seccomp.install(alone())\n", "            pass\n", TOOLMD),
    _wall("CON-11", "inside/entry.py", "        limits.close_all_except((0, 1, 2))\n", "", TOOLMD),
    _wall("CON-11", "inside/entry.py", "    if code != 0:\n", "    if code is None:\n", TOOLMD),
)  # fmt: skip
