"""Tools that fail where a call can: before and after a byte left, before and after a file was written."""

DOUBTFUL = '''
"""Tools that fail."""
import os
import socket
import urllib.request

from ringfence import Context, Files, Network, Retry, tool

HERE = Network("127.0.0.1:{port}")
URL = "http://127.0.0.1:{port}/"
OUT = Files(write=["outbox"])
THRICE = Retry(attempts=3, backoff=0.01)


def _answer(reply) -> str:
    if reply.status_code != 200:
        raise ConnectionError("no answer")
    return reply.text


@tool(safety="read", needs=[HERE], retry=THRICE)
def ask(word: str) -> str:
    """Ask for a word."""
    return urllib.request.urlopen(URL + word, timeout=5).read().decode()


@tool(safety="read", needs=[HERE], retry=THRICE)
def ask_by_hand(ctx: Context, word: str) -> str:
    """Ask for a word by the client that there is."""
    return _answer(ctx.http.get(URL + word))


@tool(safety="network", egress="write", idempotency="required", needs=[HERE], retry=THRICE)
def send(ctx: Context, word: str) -> str:
    """Send a word."""
    return _answer(ctx.http.post(URL + word, content=word))


@tool(safety="network", egress="write", idempotency="required", needs=[HERE], retry=THRICE)
def send_unread(word: str) -> str:
    """Send a word in a protocol that nobody reads."""
    with socket.create_connection(("127.0.0.1", {port}), timeout=5) as far:
        far.sendall(b"\\x01" + word.encode() + b"\\r\\n\\r\\n")
        answer = far.recv(100)
    if b"200" not in answer:
        raise ConnectionError("no answer")
    return answer.decode()


@tool(
    safety="network", egress="write", idempotency="required", needs=[HERE], retry=THRICE, far_side_dedupes=True
)
def send_known(ctx: Context, word: str) -> str:
    """Send a word to somebody who knows a repeated key."""
    return _answer(ctx.http.post(URL + word, content=word))


@tool(safety="write", idempotency="optional", needs=[OUT], retry=THRICE)
def put(ctx: Context, word: str) -> str:
    """Put a word into the outbox, unless it fails before."""
    if word == "before":
        raise RuntimeError("before anything was written")
    if word == "folder":
        os.mkdir("outbox/new")
    else:
        ctx.files.write_text("outbox/" + word, word)
    if word == "gone":
        os.unlink("outbox/gone")
    if word != "well":
        raise RuntimeError("after it was written")
    return word
'''
