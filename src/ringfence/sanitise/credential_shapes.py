"""Credentials that a standard spells, whoever issued them: keys, signed tokens, wallets.

Takes: nothing.  Gives: `FORMATS`, a row for each.  Never: matches a public key or a certificate.
"""

from __future__ import annotations

from ringfence.sanitise.credential_format import Format

PRIVATE_KEY = "private-key"

FORMATS: tuple[Format, ...] = (
    # (id, what it opens, spelling, an example that is found, one that is not)
    Format(PRIVATE_KEY, "signs and decrypts as its owner; taken away up to its last line", r"-----BEGIN[ A-Z0-9_]{0,40}PRIVATE KEY(?: BLOCK)?-----", "-----BEGIN <u3> PRIVATE KEY-----\n<64>\n<40>=\n-----END <u3> PRIVATE KEY-----", "-----BEGIN <u3> PUBLIC KEY-----"),
    Format("putty-private-key", "signs in as its owner", r"\bPrivate-Lines: [0-9]{1,3}(?:\r?\n[A-Za-z0-9+/=]{1,64})+", "Private-Lines: 2\n<64>\n<20>=", "Private-Lines: none"),
    Format("json-web-token", "acts as its subject until it expires (RFC 7519)", r"\.ey[A-Za-z0-9_/\\-]{14,}\.(?:[A-Za-z0-9_/\\-]{10,}={0,2})?", "eyJ<17>.eyJ<17>.<43>", "eyJ.eyJ.", before=r"\bey[A-Za-z0-9_-]{14,}"),
    Format("json-web-token-encoded", "a signed token in a second layer of base64", r"\bZXlK[A-Za-z0-9+/]{60,}={0,2}", "ZXlK<90>=", "ZXlKabc"),
    Format("extended-private-key", "spends from every address of a wallet (BIP 32)", r"\b[xyztuv]prv[A-HJ-NP-Za-km-z1-9]{90,}", "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi", "xprv9"),
    Format("wallet-key", "spends from an address (wallet import format)", r"\b(?:5[HJK][A-HJ-NP-Za-km-z1-9]{49}|[KL][A-HJ-NP-Za-km-z1-9]{51})\b", "5JmKnPqRsTuVwXyZ2345678abcdefghjkmnpqrstuvwxyzABCDE", "5Jobs"),
)  # fmt: skip
