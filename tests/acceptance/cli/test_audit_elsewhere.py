"""`ringfence audit bundle`, `verify-bundle`, `replay` and `prune`."""

from __future__ import annotations

import json
import sqlite3
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ringfence.audit.bundle import bundle_lines
from ringfence.audit.chain import Link, head_of
from ringfence.audit.checkpoint import sign
from tests.acceptance.cli.typed import Shop, typed


@pytest.fixture
def used_shop(shop: Shop) -> Shop:
    assert shop.typed("call", "ana", "greet", '{"name": "Ada"}').code == 0
    return shop


def bundled(shop: Shop) -> tuple[Path, str]:
    """A bundle, and the key's fingerprint as it was kept elsewhere."""
    key = shop.json("audit", "verify")["key"]
    assert shop.typed("audit", "bundle", "trail.bundle").code == 0
    return shop.folder / "trail.bundle", key


@pytest.mark.req("AUD-2", "OPS-1")
def test_a_bundle_verifies_elsewhere_without_the_store(used_shop: Shop, tmp_path: Path) -> None:
    file, key = bundled(used_shop)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "b").write_bytes(file.read_bytes())
    came = typed("audit", "verify-bundle", "b", "--key", key, "--json", cwd=elsewhere)
    assert (came.code, came.document["ok"], came.document["uncovered"]) == (0, True, 0)
    assert came.document["events"] > 0
    assert list(elsewhere.iterdir()) == [elsewhere / "b"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.req("AUD-2")
def test_a_bundle_signed_anew_with_another_key_fails(used_shop: Shop) -> None:
    file, key = bundled(used_shop)
    links = [Link(**line["link"]) for line in map(json.loads, file.read_text().splitlines()) if "link" in line]
    other = Ed25519PrivateKey.generate()
    heads = {link.writer: head_of(link) for link in links}
    signed = sign(heads.values(), through=len(links), after=None, at="now", key=other)
    forged = used_shop.folder / "forged.bundle"
    forged.write_bytes(b"".join(bundle_lines(links, checkpoints=[signed], at="now", key=other)))
    came = used_shop.typed("audit", "verify-bundle", "forged.bundle", "--key", key)
    assert came.code == 1
    assert "is signed with" in came.out


@pytest.mark.req("AUD-2")
def test_an_altered_bundle_fails_and_one_without_a_key_is_not_looked_at(used_shop: Shop) -> None:
    file, key = bundled(used_shop)
    file.write_bytes(file.read_bytes().replace(b"greet", b"gr33t"))
    assert used_shop.typed("audit", "verify-bundle", "trail.bundle", "--key", key).code == 1
    keyless = used_shop.typed("audit", "verify-bundle", "trail.bundle")
    assert (keyless.code, "--key" in keyless.err) == (2, True)
    assert used_shop.typed("audit", "verify-bundle", "tools.py", "--key", key).code == 2


@pytest.mark.req("AUD-2")
def test_a_broken_trail_is_not_bundled_and_nothing_is_overwritten(used_shop: Shop) -> None:
    taken = used_shop.typed("audit", "bundle", "tools.py")
    assert (taken.code, "cannot be written" in taken.err) == (2, True)
    with sqlite3.connect(used_shop.folder / "state" / "ringfence.db") as raw:
        raw.execute("DROP TRIGGER audit_events_fixed")
        raw.execute("UPDATE audit_events SET agent = 'eve' WHERE kind = 'tool_completed'")
    raw.close()
    came = used_shop.typed("audit", "bundle", "broken.bundle")
    assert (came.code, "audit_broken" in came.err) == (1, True)
    assert not (used_shop.folder / "broken.bundle").exists()


@pytest.mark.req("IDM-4", "OPS-1")
def test_a_session_is_told_again_from_the_trail_and_nothing_runs(used_shop: Shop) -> None:
    exported = [json.loads(line) for line in used_shop.typed("audit", "export").out.splitlines()]
    (session,) = {event["body"]["session"] for event in exported if event["kind"] == "tool_proposed"}
    (used_shop.folder / "tools.py").unlink()
    came = used_shop.json("audit", "replay", session)
    (call,) = came["calls"]
    assert (call["tool"], call["ended"], json.loads(call["arguments"])) == ("greet", "completed", {"name": "Ada"})
    assert "Ada" in str(call["output"])
    told = used_shop.typed("audit", "replay", session)
    assert (told.code, "nothing is run" in told.out) == (0, True)
    after = [json.loads(line) for line in used_shop.typed("audit", "export").out.splitlines()]
    assert after == exported
    assert used_shop.typed("audit", "replay", "no-such-session").code == 2


@pytest.mark.req("AUD-2", "OPS-1")
def test_bodies_go_only_by_an_operator_and_only_after_the_configured_time(used_shop: Shop) -> None:
    used_shop.edit("ringfence.yaml", ", retention: 400d", "")
    unset = used_shop.typed("audit", "prune", "--as", "bob")
    assert (unset.code, "audit.retention" in unset.err) == (2, True)
    used_shop.edit("ringfence.yaml", "audit: {", "audit: {retention: 400d, ")
    assert used_shop.json("audit", "prune", "--dry-run") == {"removable": 0}
    turned_away = used_shop.typed("audit", "prune", "--as", "alice")
    assert (turned_away.code, "error[operator_required]: `alice`" in turned_away.err) == (4, True)
    assert used_shop.json("audit", "prune", "--as", "bob")["removed"] == 0
    assert used_shop.typed("audit", "verify").code == 0
