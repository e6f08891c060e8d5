"""Arguments that read the same are alike; arguments that mean something else are not."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.approvals.likeness import likeness

pytestmark = pytest.mark.req("APR-5")

SCHEMA: dict[str, Any] = {"properties": {"to": {}, "limit": {"default": 10}}}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"to": "shop"}, {"to": "SHOP "}),
        ({"to": "shop"}, {"to": "sh\u00adop."}),
        ({"to": "paypal"}, {"to": "pаypаl"}),
        ({"to": "shop"}, {"to": "shop", "note": ""}),
        ({"to": "shop"}, {"to": "shop", "note": None, "tags": [None, ""]}),
        ({"to": "shop"}, {"to": "shop", "limit": 10}),
        ({"to": ["a", "b"]}, {"to": ["B", "a", ""]}),
        ({"to": {"name": "x", "city": "y"}}, {"to": {"city": "Y", "name": "x"}}),
        ({"amount": 1}, {"amount": 1.0}),
    ],
)
def test_a_trifle_makes_no_other_call(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert likeness(one, schema=SCHEMA) == likeness(other, schema=SCHEMA)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"to": "shop"}, {"to": "shops"}),
        ({"to": "10.5"}, {"to": "105"}),
        ({"to": "../x"}, {"to": "/x"}),
        ({"to": "A-1001"}, {"to": "A-1002"}),
        ({"amount": 5}, {"amount": 6}),
        ({"amount": 5}, {"amount": -5}),
        ({"on": True}, {"on": False}),
        ({"to": "shop"}, {"to": "shop", "limit": 11}),
        ({"to": "shop"}, {"from": "shop"}),
        ({"to": ["a", "b"]}, {"to": ["a", "b", "c"]}),
    ],
)
def test_another_meaning_is_another_call(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert likeness(one, schema=SCHEMA) != likeness(other, schema=SCHEMA)
