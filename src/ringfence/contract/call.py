"""One request, parsed: the arguments fit the schema, are spelled one way, and can no longer change.

Takes: a tool's schemas and what a model or a jail sent.  Gives: a `ToolCall`, or checked output.
Never: fetches a reference, runs an unbounded pattern, or echoes a value in an error.

The schema that is enforced here is, byte for byte, the one that was hashed and shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema_rs
import rfc8785

from ringfence.contract.bounds import INPUT_BYTES
from ringfence.contract.fingerprint import canonical, digest
from ringfence.contract.marked import Marked
from ringfence.contract.markers import RECIPIENT_KEYWORD
from ringfence.contract.tool import Tool
from ringfence.contract.values import NotPlain, read_canonical, require_plain
from ringfence.errors import CallFailed, CallRefused, DeclarationRefused

_MASK = "the value"
_MOST_TEXT = 300


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """One request with parsed arguments; `canonical` is what will be hashed, approved and run."""

    tool: str
    fingerprint: str
    arguments: dict[str, Any]
    canonical: bytes
    digest: str


class Shape:
    """A tool's two schemas, compiled once; `recipients` finds the arguments that name somebody."""

    def __init__(self, tool: Tool) -> None:
        self._name, self._fingerprint = tool.name, tool.fingerprint
        self._input = _compile(tool.input_schema, what=f"the input schema of `{tool.name}`")
        self._output = _compile(tool.output_schema, what=f"the output schema of `{tool.name}`")
        self.recipients = Marked(tool.input_schema, keyword=RECIPIENT_KEYWORD)

    def parse(self, arguments: Mapping[str, Any]) -> ToolCall:
        """Parsed arguments, or `input_invalid` with the argument named."""
        try:
            require_plain(arguments)
            spelled = canonical(arguments)
        except (NotPlain, rfc8785.CanonicalizationError) as error:
            raise _invalid(str(error)) from None
        if len(spelled) > INPUT_BYTES:
            raise _invalid(f"the arguments are longer than {INPUT_BYTES} bytes")
        # From here on only our own copy counts: the caller may still hold, and change, what was handed over.
        parsed: dict[str, Any] = read_canonical(spelled)
        problem = _first_problem(self._input, parsed)
        if problem:
            raise _invalid(problem)
        return ToolCall(
            tool=self._name,
            fingerprint=self._fingerprint,
            arguments=parsed,
            canonical=spelled,
            digest=digest(spelled),
        )

    def check_output(self, output: Any) -> None:
        """Raise `output_invalid` unless the output is what the contract declares."""
        if self._output.is_valid(output):
            return
        error = next(self._output.iter_errors(output))
        # Named by the schema alone: the place and the message of the error would carry the output's own keys.
        broken = ".".join(map(str, error.schema_path))
        raise CallFailed(f"the tool's output does not fit `{_short(broken)}` of its schema", code="output_invalid")


def _compile(schema: dict[str, Any], *, what: str) -> jsonschema_rs.Draft202012Validator:
    try:
        return jsonschema_rs.Draft202012Validator(
            schema,
            validate_formats=True,
            ignore_unknown_formats=False,
            formats={name: _formats[name] for name in _formats},
            pattern_options=jsonschema_rs.RegexOptions(),
            mask=_MASK,
            offline=True,
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise DeclarationRefused(f"{what} cannot be enforced: {_short(str(error))}") from error


def _bytes_as_text(value: str) -> bool:
    """`bytes` travels as text; what the bytes are is the tool's own business."""
    return isinstance(value, str)  # pyright: ignore[reportUnnecessaryIsInstance]


# Formats that pydantic writes and JSON Schema does not define; each must still be asserted, so each is named.
_formats = {"binary": _bytes_as_text, "password": _bytes_as_text}


def _first_problem(validator: jsonschema_rs.Draft202012Validator, value: Any) -> str | None:
    if validator.is_valid(value):
        return None
    error = next(validator.iter_errors(value))
    where = ".".join(map(str, error.instance_path))
    return f"`{_short(where)}`: {_short(error.message)}" if where else _short(error.message)


def _short(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT] + "…"


def _invalid(problem: str) -> CallRefused:
    return CallRefused(f"the arguments do not fit: {problem}", code="input_invalid")
