"""The walls of a jail without namespaces, one line each: take one out, and a test goes red.

Takes: nothing.  Gives: `MECHANISMS`, in the form of the spine's removals.
Never: removes anything itself; `test_confined_mechanisms.py` does, on a copy that every user can read.
"""

from __future__ import annotations

from tests.architecture.removals import Removal

_CONFINED = "tests/integration/sandbox/test_confined.py::test_"
_RUN = f"{_CONFINED}tools_run_confined_where_there_are_no_namespaces"
_USER, _ROOT, _OLD = f"{_RUN}[7-user]", f"{_RUN}[7-root]", f"{_RUN}[1-user]"
_SERVER_ENDS = f"{_CONFINED}a_fork_server_that_is_killed_takes_every_confined_process_with_it[user]"
_ENDS = "tests/integration/sandbox/test_confined_ends.py::test_"
_ASKED = f"{_ENDS}a_warden_that_is_asked_to_end_ends_first_what_nothing_else_would"
_ASKING = f"{_ENDS}a_confined_jail_is_closed_by_asking_its_warden"
_OF_FILES = "tests/integration/sandbox/test_confined_files.py::test_"
_FILES = f"{_OF_FILES}granted_files_are_read_and_written_and_nothing_else_is[7-user]"
_FILES_OF_ROOT = f"{_OF_FILES}granted_files_are_read_and_written_and_nothing_else_is[7-root]"
_REFUSED = f"{_OF_FILES}root_serves_no_files_of_root_of_two_owners_or_that_their_owner_has_no_way_to"
_DOORS = f"{_CONFINED}no_import_moves_its_host_into_a_group_that_ends_with_a_jail"
_WARDEN_ENDS = f"{_CONFINED}a_warden_that_is_killed_takes_its_zygote_with_it_and_the_host_the_rest[user]"


def _wall(id_: str, file: str, find: str, put: str, *tests: str) -> Removal:
    return Removal(id=id_, file=file, find=find, put=put, tests=tests)


MECHANISMS: tuple[Removal, ...] = (
    _wall("SBX-3", "inside/confined.py", "    namespaces.become(order.uid, gid=order.gid)\n", "", _ROOT),
    _wall("SBX-3", "inside/confined.py", '    namespaces.set_dumpable("hidden")\n    namespaces.adopt_orphans()\n', "    namespaces.adopt_orphans()\n", _USER),
    _wall("SBX-9", "inside/confined.py", "    namespaces.hear_of_parents_end(signal.SIGTERM)\n", "", _SERVER_ENDS),
    _wall("SBX-9", "inside/confined.py", "        end_descendants()\n        os._exit(0)\n", "        os._exit(0)\n", _ASKED),
    _wall("SBX-9", "inside/confined.py", "    namespaces.die_with_parent()\n", "", _WARDEN_ENDS),
    _wall("SBX-3", "inside/confined.py", "    limits.set_no_new_privileges()\n    _restrict(layout)\n", "    limits.set_no_new_privileges()\n", _USER),
    _wall("SBX-2", "inside/confined.py", "    limits.apply(resources)\n    _restrict(layout)\n", "    limits.apply(resources)\n", _USER),
    _wall("SBX-3", "inside/confined.py", "    limits.apply(resources)\n", "", _USER),
    _wall("SBX-2", "inside/confined.py", "    limits.close_all_except(kept)\n", "", _USER),
    _wall("SBX-3", "inside/confined.py", "    seccomp.install(_filters(layout).stage_a)\n", "", _USER),
    _wall("SBX-3", "inside/confined.py", "    seccomp.install(_filters(layout).stage_b)\n", "", _USER),
    _wall("SBX-9", "inside/forkserver.py", "        end_descendants()\n", "", _WARDEN_ENDS),
    _wall("SBX-6", "kernel/allowlist_confined.py", "        *WITHOUT_MOUNTS,\n", "", _USER),
    _wall("SBX-6", "kernel/allowlist_confined.py", "        *WITHOUT_PIDS,\n", "", _USER),
    _wall("SBX-6", "kernel/allowlist_confined.py", "        *(WITHOUT_TRUNCATE if version < TRUNCATE_SINCE else ()),\n", "", _OLD),
    _wall("SBX-6", "kernel/allowlist_confined.py", "        *(WITHOUT_SCOPE if version < SIGNAL_SINCE else ()),\n", "", _OLD),
    _wall("SBX-4", "inside/confined.py", '"read": landlock.READ,', '"read": landlock.WRITE,', _FILES),
    _wall("SBX-4", "inside/confined.py", '"write": landlock.WRITE}', '"write": landlock.EVERYTHING_BUT_EXECUTE}', _FILES),
    _wall("SBX-3", "inside/confined.py", "    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))\n", "", _FILES),
    _wall("SBX-4", "inside/confined.py", "    os.chdir(layout.start)\n", "", _FILES),
    _wall("SBX-6", "inside/confined.py", "        if not os.access(path, os.X_OK):\n", "        if False:\n", _REFUSED),
    _wall("SBX-3", "sandbox/pool.py", "blueprint.layout.ids or self._identities.lend()", "self._identities.lend()", _FILES_OF_ROOT),
    _wall("SBX-4", "sandbox/drafts.py", "if on_disk else MOUNTED\n", "if not on_disk else MOUNTED\n", _FILES),
    _wall("SBX-9", "sandbox/walls.py", 'entering: Entering = "by the host"', 'entering: Entering = "by itself"', _DOORS),
    _wall("SBX-9", "sandbox/walls.py", "        warden.ask_to_end()\n", "        warden.kill()\n", _ASKING),
    _wall("SBX-3", "sandbox/watch.py", '        exchange.stop("pids_limit", f"the tool had more than {most} threads")\n', "        return\n", _USER),
)  # fmt: skip
