"""Calls a tool's own function, for the author's unit tests.

Takes: a tool, arguments and, where the tool wants one, a context.  Gives: what the function returns, validated.
Never: stands for a governed call; there is no jail, no policy and no trail here, and outside tests it is refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ringfence.contract.call import Shape
from ringfence.contract.context import Context
from ringfence.contract.result import Result
from ringfence.contract.tool import Tool
from ringfence.errors import Misuse
from ringfence.testing.only_tests import require_test_run


async def dangerously_call(tool: Tool, arguments: Mapping[str, Any], *, context: Context | None = None) -> Any:
    """The tool's output as plain JSON data; input and output are held to the contract."""
    require_test_run("dangerously_call")
    implementation = tool.implementation
    if implementation is None:
        raise Misuse(f"`{tool.name}` has no function here: it was read from a description")
    shape, signature = Shape(tool), implementation.signature
    parsed = signature.input_model.model_validate_json(shape.parse(arguments).canonical)
    given: dict[str, Any] = {} if signature.context_parameter is None else {signature.context_parameter: context}
    if signature.model_parameter:
        given[signature.model_parameter] = parsed
    else:
        given.update({name: getattr(parsed, name) for name in type(parsed).model_fields})
    returned = implementation.function(**given)
    if inspect.isawaitable(returned):
        returned = await returned
    output = returned.output if isinstance(returned, Result) else returned  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    plain = signature.output_type.dump_python(output, mode="json")
    shape.check_output(plain)
    return plain
