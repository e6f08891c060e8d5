"""What one side permits and the other declares: covering, and what is left where both agree."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from ringfence import FROM_AGENT, Files, Network, Processes, SecretRef, Secrets, Storage, tool
from ringfence.contract.limits import Limits
from ringfence.contract.paths import beneath, relative_path
from ringfence.errors import CallFailed, DeclarationRefused

pytestmark = pytest.mark.req("CON-6", "CON-14")


@pytest.mark.parametrize(
    ("permitted", "declared", "left"),
    [
        (Network("*.a.example"), Network("b.a.example"), Network("b.a.example")),
        (Network("b.a.example"), Network("*.a.example"), Network("b.a.example")),
        (Network("a.example"), Network("*.a.example"), Network()),
        (Network(), Network("a.example"), Network()),
        (Network(cidrs=["10.0.0.0/8"]), Network(cidrs=["10.1.0.0/16"]), Network(cidrs=["10.1.0.0/16"])),
        (Network(cidrs=["10.1.0.0/16"]), Network(cidrs=["10.0.0.0/8"]), Network(cidrs=["10.1.0.0/16"])),
        (Network(cidrs=["::/0"]), Network(cidrs=["10.0.0.0/8"]), Network()),
    ],
)
def test_networks_meet_in_the_narrower(permitted: Network, declared: Network, left: Network) -> None:
    assert declared.intersect(permitted) == left
    assert permitted.covers(declared) is (left == declared)


@pytest.mark.parametrize(
    ("permitted", "declared", "left"),
    [
        (Files(read=["a"]), Files(read=["a/b"]), Files(read=["a/b"])),
        (Files(read=["a/b"]), Files(read=["a"]), Files(read=["a/b"])),
        (Files(read=["ab"]), Files(read=["a"]), Files()),
        (Files(read=["."]), Files(read=["a"], write=["a"]), Files(read=["a"])),
        (Files(read=["a"], write=["b"]), Files(read=FROM_AGENT), Files(read=["a"])),
        (Files(), Files(read=FROM_AGENT), Files()),
    ],
)
def test_paths_meet_in_the_narrower(permitted: Files, declared: Files, left: Files) -> None:
    assert declared.intersect(permitted) == left


def test_secrets_and_binaries_meet_in_the_names_both_have() -> None:
    wanted = Secrets("A", "B", hosts=["x.example"])
    left = wanted.intersect(Secrets.permit("B", "C"))
    assert (left.names, left.hosts, left.at) == (("B",), wanted.hosts, wanted.at)
    assert not Secrets.permit("B").covers(wanted)
    assert Processes("git", "ls").intersect(Processes("ls", "sh")) == Processes("ls")
    assert Storage("tool").intersect(Storage("session")) is None


def test_hosts_and_binaries_can_be_left_to_the_agent_and_are_then_the_agents_own() -> None:
    permitted = Network.permit("a.example", private=["10.0.0.5:80"])
    assert Network(FROM_AGENT).intersect(permitted) == permitted
    assert permitted.covers(Network(FROM_AGENT))
    assert Network(FROM_AGENT).intersect(Network()).is_empty
    assert not Network().covers(Network(FROM_AGENT))
    assert Processes(FROM_AGENT).intersect(Processes("wc")) == Processes("wc")
    assert Processes("wc").covers(Processes(FROM_AGENT))
    assert Processes(FROM_AGENT).intersect(Processes()).is_empty
    assert not Processes().covers(Processes(FROM_AGENT))
    assert not Network(FROM_AGENT).is_empty
    assert not Processes(FROM_AGENT).is_empty


def test_who_leaves_a_list_to_the_agent_names_nothing_beside_it() -> None:
    for declare in (
        lambda: Network(FROM_AGENT, "a.example"),
        lambda: Network(FROM_AGENT, cidrs=["10.0.0.0/8"]),
        lambda: Processes("wc", FROM_AGENT),
    ):
        with pytest.raises(DeclarationRefused):
            declare()


def test_a_tool_that_reads_leaves_no_binaries_to_the_agent() -> None:
    with pytest.raises(DeclarationRefused, match="at least `write`"):

        @tool(safety="read", needs=[Processes(FROM_AGENT)])
        def look(number: int) -> int:
            """Look."""
            return number


@pytest.mark.parametrize(("text", "spelled"), [("a//b/", "a/b"), ("./a", "a"), (".", "."), ("a/./b", "a/b")])
def test_a_path_has_one_spelling(text: str, spelled: str) -> None:
    assert relative_path(text) == spelled


def test_beneath_is_by_whole_names() -> None:
    assert beneath("a/b", root="a")
    assert not beneath("ab", root="a")


def test_limits_take_the_lower_of_two() -> None:
    mine, ceiling = Limits(wall_seconds=5, memory_mb=512), Limits(wall_seconds=10, memory_mb=256, pids=4)
    assert mine.capped_by(ceiling) == Limits(wall_seconds=5, memory_mb=256, pids=4)


def test_a_secret_shows_its_name_and_never_its_value() -> None:
    secret = SecretRef("KEY", placeholder="p-123", revealed="value")
    for shown in (str(secret), repr(secret), f"{secret:>40}", json.dumps({"k": str(secret)})):
        assert "value" not in shown
        assert "p-123" not in shown
    assert pickle.loads(pickle.dumps(secret)) == "[REDACTED:KEY]"
    assert secret != SecretRef("KEY", placeholder="p-123", revealed="value")
    assert secret.bearer() == "Bearer p-123"
    for duplicate in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            duplicate(secret)
    with pytest.raises(CallFailed, match="stays outside"):
        SecretRef("KEY", placeholder="p").raw()
