"""Credentials become markers, by their spelling and by their place; everything else stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.sanitise import manifests
from ringfence.sanitise.credential_contexts import CONTEXTS
from ringfence.sanitise.credential_format import Format, written_out
from ringfence.sanitise.credentials import FORMATS, redacted
from ringfence.sanitise.edits import applied

pytestmark = pytest.mark.req("SAN-1", "SAN-2")

ROWS = [
    *((row.id, row.reason, row.found, row.passed) for row in FORMATS),
    *((row.id, row.reason, row.found, row.passed) for row in CONTEXTS),
    (manifests.NAME, manifests.REASON, f"\n{manifests.FOUND}\n", f"\n{manifests.PASSED}\n"),
]
EXAMPLES = [written_out(found) for _, _, found, _ in ROWS]


def clean(text: str) -> str:
    return applied(text, redacted(text))


@pytest.mark.parametrize(("name", "reason", "found", "passed"), ROWS, ids=[row[0] for row in ROWS])
def test_a_row_finds_its_example_and_passes_its_near_miss(name: str, reason: str, found: str, passed: str) -> None:
    assert reason
    edits = redacted(f"before {written_out(found)} after")
    assert [edit.detail for edit in edits] == [name]
    assert redacted(f"before {written_out(passed)} after") == []


def test_no_two_rows_share_an_id() -> None:
    ids = [row[0] for row in ROWS]
    assert len(ids) == len(set(ids))


def test_a_private_key_goes_with_its_body_and_what_follows_stays() -> None:
    key = written_out("-----BEGIN OPENSSH PRIVATE KEY-----\n<64>\n<64>\n<20>==\n-----END OPENSSH PRIVATE KEY-----")
    assert clean(f"a\n{key}\nb") == "a\n[redacted: private-key]\nb"


def test_a_private_key_that_is_cut_short_loses_its_lines() -> None:
    assert (
        clean(written_out("-----BEGIN PRIVATE KEY-----\n<64>\n<64>\nplain words"))
        == "[redacted: private-key]\nplain words"
    )


def test_only_the_password_of_an_address_goes() -> None:
    assert clean("see postgres://app:s3cr3tw0rd@db/x now") == "see postgres://app:[redacted: password-in-url]@db/x now"


def test_the_values_of_a_secret_go_and_its_keys_stay() -> None:
    manifest = "apiVersion: v1\ndata:\n  user: YWRtaW5pc3RyYXRvcg==\nkind: Secret\nmetadata:\n  name: of-the-desk\n"
    assert clean(manifest) == manifest.replace("YWRtaW5pc3RyYXRvcg==", "[redacted: kubernetes-secret]")


def test_a_reference_to_a_secret_is_not_a_secret() -> None:
    for text in (
        'token = os.environ["TOKEN"]',
        "password: ${DB_PASSWORD_V2}",
        "secret={{ vault.path2.secret9 }}",
        "api_key = get_api_key_v2(",
        "token: process.env.API_TOKEN_2",
        "password=$A1b2C3d4E5f6",
        "secret: ./k3y5/A1b2C3d4E5f6",
        "https://user:password@host",
    ):
        assert redacted(text) == [], text


PIECES = st.one_of(
    st.sampled_from(EXAMPLES),
    st.sampled_from(
        ["token", "=", ": ", "key", '"', "]", "[", " ", "password", "://", "a:", "@", "-", "Bearer ", "x1Y2z3A4b5"]
    ),
    st.text(max_size=6),
)


@pytest.mark.req("SAN-4")
@given(st.lists(PIECES, max_size=8).map("".join))
def test_a_second_pass_finds_nothing(text: str) -> None:
    assert redacted(clean(text)) == []


def test_every_password_of_one_command_is_taken_at_once() -> None:
    text = "curl -U proxy:k7qw2rtz9mxb --user app:r4tz9mxbk7qw -u 'b:w2rtz9mxbk7q' https://host.test"
    assert [edit.detail for edit in redacted(text)] == ["command-line-password"] * 3
    assert "9mxb" not in clean(text)


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.id)
def test_a_key_that_another_credential_touches_is_found_at_once_or_never(row: Format) -> None:
    key = next(written_out(each.found) for each in FORMATS if each.id == "wallet-key")
    left = clean(f"{key}{written_out(row.found)}")
    assert clean(left) == left


@pytest.mark.parametrize("row", [row for row in FORMATS if row.before], ids=lambda row: row.id)
def test_what_has_to_stand_before_is_taken_too_and_missed_where_it_is_not(row: Format) -> None:
    text = written_out(row.found)
    assert clean(f"see {text} now") == f"see [redacted: {row.id}] now"
    assert all(edit.detail != row.id for edit in redacted(f"see {text[-20:]} now"))
