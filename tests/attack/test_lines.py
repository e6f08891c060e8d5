"""Every line of the attacks that is about contracts, votes, files, power and secrets has a test with its number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.marks import held_under

LINES = {
    31: "loopback is dialled in every spelling",
    32: "an unlisted public address is dialled",
    33: "a metadata service is dialled",
    34: "an address is spelled another way",
    35: "a listed name leads to a closed address",
    36: "a name changes its address after it was checked",
    37: "a host with a NUL or a user in it",
    38: "a name that contains a listed one",
    39: "a list without hosts",
    40: "a redirect to another place",
    41: "a TLS hello for another host",
    42: "another host inside the right TLS",
    43: "another port of a listed host",
    44: "a request that two readers read differently",
    45: "a kept connection is used for another host",
    46: "a hello that hides its name",
    47: "a name carries a secret",
    48: "raw and packet sockets",
    49: "netlink",
    50: "vsock",
    51: "every other family",
    52: "abstract sockets",
    53: "socket files",
    55: "a tool listens",
    57: "a proxy of the tool's choice",
    58: "a flood of connections",
    59: "an answer without end",
    104: "a secret in arguments, environment, trail or errors",
    105: "a tool says its secret",
    130: "an error that holds a secret, or has no end",
    135: "a contract changes after it was listed or approved",
    136: "a rename, a swap or a shadow dodges a pin",
    137: "a name made to be mistaken for another",
    138: "a contract claims to read only",
    141: "a hidden tool is called by its name",
    142: "the model names somebody else's binding, account, recipient or key",
    147: "somebody votes who may not, or twice",
    148: "something changes between the vote and the run",
    149: "one approval is used twice",
    150: "an edit switches to another tool",
    151: "the card shows other bytes than will run",
    152: "nobody can approve, or the policy is missing or broken",
    153: "a rejected call is tried again",
    157: "a config file means something else than it shows",
    158: "somebody edits the store",
    161: "an amount slips past a cap, or many do at once",
    169: "another agent's key gives away a result",
    166: "a placeholder where it does not belong",
    164: "a socket is aimed anew",
    165: "a call rides on another's warrant",
    170: "calls go on although they are frozen",
    172: "two calls meet on loopback",
}


@pytest.mark.req("HOUSE-10")
def test_every_line_has_a_test_that_tries_it() -> None:
    names = [held.where for held in held_under(Path(__file__).parent)]
    numbered = {int(number) for name in names for number in re.findall(r"(?<=_)\d{3}(?=_)", name)}
    assert sorted(set(LINES) - numbered) == []
