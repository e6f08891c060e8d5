"""Reading a ClientHello: the name in it, however it is cut; and what hides or doubles a name is refused."""

from __future__ import annotations

import ssl
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.edge.hello import Hello, NotHello, is_name_of, read_hello

pytestmark = pytest.mark.req("NET-4")


def hello(name: str | None) -> bytes:
    """What a real client sends first."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname = False
    client = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def in_records(message: bytes, *, size: int) -> bytes:
    """The same handshake message, cut into records of this size."""
    body = message[5:]
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(struct.pack("!BHH", 0x16, 0x0301, len(piece)) + piece for piece in pieces)


def with_extension(message: bytes, kind: int, content: bytes) -> bytes:
    """The message with one more extension at its end, all lengths right."""
    extra = struct.pack("!HH", kind, len(content)) + content
    body = bytearray(message[9:])
    at = 2 + 32
    at += 1 + body[at]
    at += 2 + struct.unpack_from("!H", body, at)[0]
    at += 1 + body[at]
    struct.pack_into("!H", body, at, struct.unpack_from("!H", body, at)[0] + len(extra))
    body += extra
    whole = b"\1" + len(body).to_bytes(3) + bytes(body)
    return struct.pack("!BHH", 0x16, 0x0301, len(whole)) + whole


def test_the_name_is_read_and_its_absence_too() -> None:
    assert read_hello(hello("api.example.com")) == Hello(name="api.example.com")
    assert read_hello(hello(None)) == Hello(name=None)


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_hello_in_many_records_is_put_together(size: int) -> None:
    assert read_hello(in_records(hello("api.example.com"), size=size)) == Hello(name="api.example.com")


def test_while_bytes_are_missing_nothing_is_concluded() -> None:
    whole = hello("api.example.com")
    assert {read_hello(whole[:count]) for count in range(len(whole))} == {None}


@pytest.mark.parametrize("kind", [0xFE0D, 0xFFCE])
def test_an_encrypted_hello_is_refused(kind: int) -> None:
    with pytest.raises(NotHello):
        read_hello(with_extension(hello("api.example.com"), kind, b"\0" * 8))


def test_a_second_server_name_is_refused() -> None:
    second = b"\0\x0b\0\0\x08evil.com"
    with pytest.raises(NotHello):
        read_hello(with_extension(hello("api.example.com"), 0, second))


def test_two_names_in_one_extension_are_refused() -> None:
    names = b"\0\x00\x08evil.com\0\x00\x05other"
    listed = struct.pack("!H", len(names)) + names
    with pytest.raises(NotHello):
        read_hello(with_extension(hello(None), 0, listed))


@pytest.mark.parametrize(
    "raw", [b"GET / HTTP/1.1\r\n", b"\x16\x03\x01\0\0", b"\x17\x03\x03\0\x05hello", b"\x16\x03\x01\0\x04\x02\0\0\0"]
)
def test_what_is_no_hello_is_refused(raw: bytes) -> None:
    with pytest.raises(NotHello):
        read_hello(raw)


@given(st.binary(max_size=400))
def test_any_bytes_are_a_hello_or_refused_or_incomplete(tail: bytes) -> None:
    raw = b"\x16\x03\x01" + len(tail).to_bytes(2) + tail
    try:
        found = read_hello(raw)
    except NotHello:
        return
    assert found is None or isinstance(found, Hello)


@pytest.mark.parametrize(
    ("name", "host", "same"),
    [
        ("api.example.com", "api.example.com", True),
        ("API.example.com", "api.example.com", True),
        ("api.example.com.", "api.example.com", True),
        ("evil.com", "api.example.com", False),
        ("api.example.com.evil.com", "api.example.com", False),
        ("api.example.com\0.evil.com", "api.example.com", False),
        ("", "api.example.com", False),
        (None, "api.example.com", False),
        (None, "10.0.0.5", True),
        ("evil.com", "10.0.0.5", False),
    ],
)
def test_a_name_is_the_hosts_or_not(name: str | None, host: str, same: bool) -> None:
    assert is_name_of(name, host=host) is same
