"""With granted files no set-id bit is set on anything, in either posture and either stage; all else stays as it was."""

from __future__ import annotations

import errno
import os

import pytest

from ringfence.inside.confined import ADDED
from ringfence.inside.filters import SPARE_FLAGS
from ringfence.kernel import allowlist, allowlist_confined
from ringfence.kernel.allowlist_files import CHANGING, MAKING, WITH_FILES
from ringfence.kernel.seccomp import ALLOW, REFUSE, Program, compile_table, fail_with
from ringfence.kernel.syscalls import NUMBERS
from tests.unit.kernel.filter_machine import run

pytestmark = pytest.mark.req("SBX-3", "SBX-4")

TMPFILE = 0o2000_0000
SET_IDS = (0o4755, 0o2755, 0o6777)
OLD, NEW = 1, 7
FULL: dict[str, Program] = {
    "full A": compile_table(allowlist.stage_a(clone_flags=SPARE_FLAGS, extra=WITH_FILES)),
    "full B": compile_table(allowlist.stage_b(WITH_FILES)),
}
CONFINED: dict[str, Program] = {
    f"confined {stage} {version}": compile_table(getattr(allowlist_confined, f"stage_{stage}")(version, MAKING))
    for stage in ("a", "b")
    for version in (OLD, NEW)
}
EVERY = {**FULL, **CONFINED}
# Where a call has its flags, if it has them, and its mode.
MAKES = {"open": (1, 2), "openat": (2, 3), "creat": (None, 1)}
CHANGES = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2}


def arguments(name: str, *, flags: int, mode: int) -> tuple[int, ...]:
    places = MAKES[name]
    given = [0, 0, 0, 0]
    if places[0] is not None:
        given[places[0]] = flags
    given[places[1]] = mode
    return tuple(given)


@pytest.mark.parametrize("name", MAKES)
@pytest.mark.parametrize("where", EVERY)
def test_no_file_is_made_with_a_set_id_bit(where: str, name: str) -> None:
    for flags in (os.O_CREAT | os.O_WRONLY, os.O_CREAT | os.O_RDWR | os.O_EXCL, TMPFILE | os.O_DIRECTORY | os.O_RDWR):
        told = {run(EVERY[where], NUMBERS[name], *arguments(name, flags=flags, mode=mode)) for mode in SET_IDS}
        assert told == {REFUSE}
        assert run(EVERY[where], NUMBERS[name], *arguments(name, flags=flags, mode=0o1777)) == ALLOW


@pytest.mark.parametrize("name", ["open", "openat"])
@pytest.mark.parametrize("where", EVERY)
def test_what_stands_where_a_mode_would_be_means_nothing_while_no_file_is_made(where: str, name: str) -> None:
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDONLY | os.O_DIRECTORY | os.O_PATH):
        assert run(EVERY[where], NUMBERS[name], *arguments(name, flags=flags, mode=0o7777)) == ALLOW


@pytest.mark.parametrize("where", EVERY)
def test_a_mode_that_a_filter_cannot_see_is_not_taken(where: str) -> None:
    assert run(EVERY[where], NUMBERS["openat2"]) == fail_with(errno.ENOSYS)


@pytest.mark.parametrize("name", CHANGES)
def test_no_set_id_bit_is_added_later(name: str) -> None:
    for where, program in EVERY.items():
        for mode, answer in ((0o4755, REFUSE), (0o2755, REFUSE), (0o755, ALLOW if where in FULL else REFUSE)):
            given = [0, 0, 0]
            given[CHANGES[name]] = mode
            assert run(program, NUMBERS[name], *given) == answer


@pytest.mark.parametrize("name", ["open", "openat"])
@pytest.mark.parametrize("stage", ["a", "b"])
def test_an_older_landlocks_look_at_the_flags_counts_too(stage: str, name: str) -> None:
    emptied = arguments(name, flags=os.O_RDONLY | os.O_TRUNC, mode=0)
    assert run(CONFINED[f"confined {stage} {OLD}"], NUMBERS[name], *emptied) == REFUSE
    assert run(CONFINED[f"confined {stage} {NEW}"], NUMBERS[name], *emptied) == ALLOW
    written = arguments(name, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode=0o600)
    assert run(CONFINED[f"confined {stage} {OLD}"], NUMBERS[name], *written) == ALLOW


def test_without_namespaces_no_mode_is_changed_whatever_was_granted() -> None:
    assert ADDED["files"] == MAKING
    assert not {row.name for row in MAKING} & {row.name for row in CHANGING}
