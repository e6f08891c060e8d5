"""Exactly one address of its channel, in one spelling, or none."""

from __future__ import annotations

import pytest

from ringfence.policy.addresses import NotAnAddress, address_pattern, one_address

pytestmark = pytest.mark.req("POL-5")


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("ada@customers.example", "ada@customers.example"),
        ("Ada.Byron+tag@Customers.EXAMPLE", "ada.byron+tag@customers.example"),
        ("o'brien@customers.example.", "o'brien@customers.example"),
        ("ada@münchen.example", "ada@xn--mnchen-3ya.example"),
        ("ada@MÜNCHEN.example", "ada@xn--mnchen-3ya.example"),
        ("ada@xn--mnchen-3ya.example", "ada@xn--mnchen-3ya.example"),
    ],
)
def test_a_mail_address_has_one_spelling(text: str, normal: str) -> None:
    assert one_address(text, channel="email") == normal


@pytest.mark.parametrize(
    "text",
    [
        "", "ada", "@customers.example", "ada@", "ada@@customers.example", "ada@evil.example@customers.example",
        "ada@customers.example,eve@evil.example", "ada@customers.example;eve@evil.example",
        "ada@customers.example eve@evil.example", " ada@customers.example", "ada@customers.example ",
        "ada@customers.example\n", "ada@customers.example\r\nBcc: eve@evil.example", "ada@customers.example\0",
        "Ada <ada@customers.example>", "<ada@customers.example>", '"Ada" <eve@evil.example>',
        "ada@customers.example (Ada)",
        '"ada eve"@customers.example', '"eve@evil.example"@customers.example', "eve%evil.example@customers.example",
        "evil.example!eve@customers.example", "ada@[192.0.2.1]", "ada@192.0.2.1", "ada@[IPv6:2001:db8::1]",
        "ada@localhost",
        "ada\u202e@customers.example", "a\u200bda@customers.example", "ada@customers\u200b.example",
        "ada@customers.example\u2028", "ada＠customers.example", "аda@customers.example", "ada@faß.example",
        ".ada@customers.example", "ada.@customers.example", "a..da@customers.example", "mailto:ada@customers.example",
        "ada@customers.example?bcc=eve@evil.example", "a" * 65 + "@customers.example", "ada@" + "a." * 200 + "example",
        "\ud800@customers.example", "ada@customers .example", "ada@customers.example/",
    ],
)  # fmt: skip
def test_what_is_not_exactly_one_mail_address_is_refused(text: str) -> None:
    with pytest.raises(NotAnAddress):
        one_address(text, channel="email")


@pytest.mark.parametrize(
    "value", [None, 1, True, ["ada@customers.example"], {"to": "ada@customers.example"}, b"x@y.zz"]
)
def test_only_a_text_is_an_address(value: object) -> None:
    with pytest.raises(NotAnAddress):
        one_address(value, channel="email")


@pytest.mark.parametrize("channel", ["sms", "whatsapp", "signal"])
def test_a_number_is_e164_and_nothing_else(channel: str) -> None:
    assert one_address("+498912345678", channel=channel) == "+498912345678"
    for text in (
        "498912345678", "00498912345678", "+0891234567", "+49 89 12345678", "+49-89-12345678", "+4989123456789012345",
        "+123456", "+498912345678,+15551234567", "+４９８９１２３", "+498912345678;ext=1", "tel:+498912345678",
    ):  # fmt: skip
        with pytest.raises(NotAnAddress):
            one_address(text, channel=channel)


def test_another_channels_address_is_one_token_as_it_is() -> None:
    assert one_address("#General", channel="slack") == "#General"
    for text in ("#general #random", "#general,#random", "#gen\teral", "#gen\u202eeral", "a;b", ""):
        with pytest.raises(NotAnAddress):
            one_address(text, channel="slack")


@pytest.mark.parametrize(
    ("channel", "pattern", "normal"),
    [
        ("email", "*@Customers.Example", "*@customers.example"),
        ("email", "*@*.münchen.example", "*@*.xn--mnchen-3ya.example"),
        ("email", "Sales-*@customers.example", "sales-*@customers.example"),
        ("email", "*", "*"),
        ("email", "*@*", "*@*"),
        ("whatsapp", "+49*", "+49*"),
        ("slack", "#team-*", "#team-*"),
    ],
)
def test_a_pattern_is_spelled_as_addresses_are(channel: str, pattern: str, normal: str) -> None:
    assert address_pattern(pattern, channel=channel) == normal


@pytest.mark.parametrize(
    ("channel", "pattern"),
    [
        ("email", "customers.example"), ("email", "*customers.example"), ("email", "*@customers*"),
        ("email", "*@*example"),
        ("email", "@customers.example"), ("email", "a@b@c.example"), ("email", "* @customers.example"), ("email", ""),
        ("whatsapp", "49*"), ("whatsapp", "*89"), ("slack", "a,b"),
    ],
)  # fmt: skip
def test_a_pattern_that_could_mean_more_than_it_says_is_refused(channel: str, pattern: str) -> None:
    with pytest.raises(NotAnAddress):
        address_pattern(pattern, channel=channel)
