"""Which attacks of the attack table are tried in every sandbox, of what kind each is, and which are left out and why.

Takes: `tests/attack/table.py`.  Gives: `CHOSEN`, `LEFT_OUT`.  Never: drops a probe without a reason, or copies one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from tests.attack.row import Row
from tests.attack.table import TABLE

Kind = Literal["reach", "share", "surface"]
KINDS: tuple[Kind, ...] = get_args(Kind)

MEANINGS: Mapping[Kind, str] = {
    "reach": "gets at something outside: a file, a secret, a process, a listener of the host",
    "share": "takes more than its share: memory, files, processes, descriptors",
    "surface": "uses a door that plain Python work does not need; harmless until a kernel bug or a second step",
}

_TWO_CALLS = "needs two calls in one set-up, and most peers take their scratch from the caller"
LEFT_OUT: Mapping[str, str] = {
    "line_004_loop_of_links": "the kernel stops it everywhere",
    "line_027_a_mess": _TWO_CALLS,
    "line_028_planted_modules": _TWO_CALLS,
    "line_029_scratch_of_another_call": _TWO_CALLS,
    "line_070_daemon": "it shows that a second process starts, not that it outlives the sandbox",
    "line_071_stubborn": "most peers leave deadlines to the caller",
    "line_072_waits_for_ever": "most peers leave deadlines to the caller",
    "line_073_signal_neighbours": "the first neighbour is often the peer's own process inside",
    "line_077_sibling_call": "the first neighbour is often the peer's own process inside",
    "line_081_zombies": "what runs programs must let them bear children",
    "line_113_call_that_no_filter_sees": "it ends its caller, with and without a sandbox",
    "line_113_calls_beyond_the_table": "every kernel refuses it",
}  # fmt: skip

# Parts of a probe, or answers to one, that a sandbox may give of its own making. They do not count in a peer's column;
# in ours every part counts.
OWN_MAKING: Mapping[str, tuple[frozenset[str], str]] = {
    "line_018_devices": (frozenset({"/dev/ptmx"}), "terminals of a sandbox's own"),
    "line_052_abstract_socket": (frozenset({"datagram_pair"}), "it may be sent, and need not arrive"),
    "line_073_signal_others": (frozenset({"everyone", "parent"}), "a sandbox's own processes inside"),
    "line_098_descriptors": (frozenset({"others"}), "descriptors of a sandbox's own"),
    "line_102_shared_memory": (frozenset({"listing"}), "an empty list is a list"),
    "line_103_usual_places": (frozenset({"done 0 names"}), "an empty folder put over the real one"),
}  # fmt: skip

_REACH = frozenset({
    "line_001_climb", "line_001_climb_to_shadow", "line_002_absolute", "line_003_symbolic_link",
    "line_004_chain_of_links", "line_005_hard_link", "line_006_own_root", "line_007_root_of_the_launcher",
    "line_007_root_of_process_1", "line_008_magic_link", "line_009_leaked_folder", "line_010_chroot", "line_015_race",
    "line_018_devices", "line_021_change_what_is_read_only", "line_022_kernel_settings",
    "line_023_control_groups", "line_031_dial_the_host", "line_034_spell_the_host", "line_052_abstract_socket",
    "line_053_pathname_socket", "line_054_ask_for_a_descriptor", "line_056_enter_the_hosts_network",
    "line_073_signal_others", "line_075_memory_of_the_launcher", "line_076_descriptor_of_the_launcher",
    "line_097_environment", "line_098_descriptors", "line_099_memory",
    "line_102_shared_memory", "line_103_password_file", "line_103_usual_places", "line_114_inherited_ring",
})  # fmt: skip
_SHARE = frozenset({"line_068_fork_bomb", "line_069_thread_bomb"})
# They open objects that a limit does not count, and take little.
_DOORS = frozenset({"line_083_memory_that_is_shared", "line_084_locked_memory", "line_094_kernel_objects"})


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One row of the attack table, to be tried in every sandbox."""

    row: Row
    kind: Kind

    @property
    def name(self) -> str:
        return self.row.probe

    @property
    def words(self) -> str:
        """`2 absolute` for `line_002_absolute`."""
        return f"{self.row.line} {self.name.split('_', 2)[2].replace('_', ' ')}"


def _kind(row: Row) -> Kind:
    if row.probe in _REACH:
        return "reach"
    takes = row.module == "resources" and row.probe not in _DOORS
    return "share" if takes or row.probe in _SHARE else "surface"


def _declares_nothing(row: Row) -> bool:
    """Tools that were granted something try the same once more; a peer knows no declared needs to set beside theirs."""
    return not row.module.startswith("granted_")


CANDIDATES: tuple[Row, ...] = tuple(filter(_declares_nothing, TABLE))
CHOSEN: tuple[Probe, ...] = tuple(
    sorted(
        (Probe(row=row, kind=_kind(row)) for row in CANDIDATES if row.probe not in LEFT_OUT),
        key=lambda probe: (KINDS.index(probe.kind), probe.row.line, probe.name),
    )
)
