"""Every line of the attacks that is about contracts, votes, files, power and secrets has a test with its number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.marks import held_under

LINES = {
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
    166: "a placeholder where it does not belong",
    170: "calls go on although they are frozen",
}


@pytest.mark.req("HOUSE-10")
def test_every_line_has_a_test_that_tries_it() -> None:
    names = [held.where for held in held_under(Path(__file__).parent)]
    numbered = {int(number) for name in names for number in re.findall(r"(?<=_)\d{3}(?=_)", name)}
    assert sorted(set(LINES) - numbered) == []
