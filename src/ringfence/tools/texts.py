"""Text files, opened for a tool: what is no file, no text or not there is said in words that a model can act on.

Takes: a context with files, and a path.  Gives: an open file, and text from its bytes.  Never: decides what may be
opened; the context and the kernel do.
"""

from __future__ import annotations

from typing import IO

from ringfence import Context
from ringfence.tools.arguments import wrong

_SAMPLE = 8_192


def open_text(ctx: Context, path: str) -> IO[bytes]:
    """A text file at its beginning."""
    try:
        file: IO[bytes] = ctx.files.open(path, "rb")
    except FileNotFoundError:
        raise wrong(
            "path", f"there is no file `{path}`", remedy="find it with `search_files` and `kind` `name`"
        ) from None
    except IsADirectoryError:
        raise wrong("path", f"`{path}` is a folder", remedy="name a file in it") from None
    if is_binary(file.read(_SAMPLE)):
        file.close()
        raise wrong("path", f"`{path}` is not text", remedy="name a text file")
    file.seek(0)
    return file


def is_binary(sample: bytes) -> bool:
    """Whether a file that begins like this is no text: text of any encoding here has no NUL."""
    return b"\0" in sample


def shown(content: bytes) -> str:
    """Bytes as text; what is not UTF-8 is shown as a replacement character."""
    return content.decode("utf-8-sig" if content.startswith(b"\xef\xbb\xbf") else "utf-8", errors="replace")
