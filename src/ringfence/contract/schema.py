"""From Python types to a JSON Schema that can be enforced: closed, bounded, local.

Takes: a function's signature, a pydantic model or a return type.
Gives: the schema that is hashed, shown to the model and enforced, all three the same.
Never: accepts «anything»; where a type says too little the declaration is refused with the parameter named.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import SchemaError

from ringfence.contract.bounds import bound_input, close_output
from ringfence.contract.context import Context
from ringfence.contract.result import Result
from ringfence.errors import DeclarationRefused

PLAIN_TYPES: tuple[type, ...] = (int, float, str, bool, type(None))
_UNSCHEMABLE = (PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError, SchemaError)


@dataclass(frozen=True, kw_only=True)
class Signature:
    """What a function's signature says: its input, its output, and how it wants to be called.

    `parse` and `dump` are what `input_model` and `output_type` do with JSON in the end, without the way there. `dump`
    writes by alias, as the schema that the host holds the output to.
    """

    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    input_model: type[BaseModel]
    output_type: TypeAdapter[Any]
    parse: Callable[[bytes], BaseModel]
    dump: Callable[[Any], bytes]
    context_parameter: str | None
    model_parameter: str | None


@dataclass(frozen=True, kw_only=True)
class Output:
    """What a function returns: how it is written down, and the schema of that."""

    type: TypeAdapter[Any]
    schema: dict[str, Any]


def read_signature(function: Callable[..., Any]) -> Signature:
    """Read a tool's two schemas off its function, or refuse with the parameter named."""
    hints = _type_hints(function)
    parameters = dict(inspect.signature(function).parameters)
    context = _take_context(parameters, hints)
    for parameter in parameters.values():
        _require_plain(parameter, hints)
    model_parameter = _single_model(parameters, hints)
    model = hints[model_parameter] if model_parameter else _model_of(function, parameters, hints)
    output = _output(hints)
    return Signature(
        input_schema=_input_schema(model),
        output_schema=dict(output.schema),
        input_model=model,
        output_type=output.type,
        parse=model.__pydantic_validator__.validate_json,
        dump=functools.partial(output.type.serializer.to_json, by_alias=True, warnings=False),
        context_parameter=context,
        model_parameter=model_parameter,
    )


def _type_hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise DeclarationRefused(
            f"an annotation cannot be read: {error}",
            remedy="define the types at the top of the module, before the tool",
        ) from error


def _take_context(parameters: dict[str, inspect.Parameter], hints: dict[str, Any]) -> str | None:
    found = [name for name in parameters if hints.get(name) is Context]
    if len(found) > 1:
        raise DeclarationRefused(f"parameters `{found[0]}` and `{found[1]}` are both the context")
    for name in found:
        del parameters[name]
    return found[0] if found else None


def _require_plain(parameter: inspect.Parameter, hints: dict[str, Any]) -> None:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
        raise DeclarationRefused(
            f"parameter `{parameter.name}` is not named by its callers",
            remedy="declare each argument by name; no `*args`, `**kwargs` or `/`",
        )
    if parameter.name not in hints:
        raise DeclarationRefused(f"parameter `{parameter.name}` has no annotation")
    if parameter.name.startswith("_"):
        raise DeclarationRefused(f"parameter `{parameter.name}` starts with an underscore")


def _single_model(parameters: dict[str, inspect.Parameter], hints: dict[str, Any]) -> str | None:
    if len(parameters) != 1:
        return None
    (name,) = parameters
    hint = hints[name]
    return name if isinstance(hint, type) and issubclass(hint, BaseModel) else None


def _model_of(
    function: Callable[..., Any], parameters: dict[str, inspect.Parameter], hints: dict[str, Any]
) -> type[BaseModel]:
    fields: dict[str, Any] = {name: (hints[name], _default(parameter)) for name, parameter in parameters.items()}
    try:
        return create_model(
            f"{function.__name__}_input",
            __config__=ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=False, protected_namespaces=()),
            **fields,
        )
    except _UNSCHEMABLE as error:
        raise DeclarationRefused(_explain(error, _culprit({name: hints[name] for name in parameters}))) from error


def _default(parameter: inspect.Parameter) -> Any:
    if parameter.default is parameter.empty:
        return ...
    if isinstance(parameter.default, FieldInfo):
        return parameter.default
    return FieldInfo(default=parameter.default, validate_default=True)


def _culprit(hints: dict[str, Any]) -> str:
    """The first parameter whose type alone has no schema."""
    for name, hint in hints.items():
        try:
            TypeAdapter(hint).json_schema()
        except _UNSCHEMABLE:
            return f"parameter `{name}`"
    return "a parameter"


def _input_schema(model: type[BaseModel]) -> dict[str, Any]:
    try:
        schema = model.model_json_schema(mode="validation", schema_generator=_SchemaWriter)
    except _UNSCHEMABLE as error:
        hints = {name: field.annotation for name, field in model.model_fields.items()}
        raise DeclarationRefused(_explain(error, _culprit(hints))) from error
    return bound_input(schema)


def _output(hints: dict[str, Any]) -> Output:
    if "return" not in hints:
        raise DeclarationRefused(
            "the return type has no annotation", remedy="annotate what the tool returns; `None` if nothing"
        )
    declared = hints["return"]
    if typing.get_origin(declared) is Result:
        (declared,) = typing.get_args(declared)
    elif declared is Result:
        raise DeclarationRefused("the return type `Result` does not say of what", remedy="write `Result[YourType]`")
    return plain_output(declared) if declared in PLAIN_TYPES else _output_of(declared)


@functools.cache
def plain_output(declared: type) -> Output:
    """The same for every tool that returns such a type, so that a process makes it once for all of its children."""
    return _output_of(declared)


def _output_of(declared: Any) -> Output:
    try:
        adapter = TypeAdapter[Any](declared)
        schema = adapter.json_schema(mode="serialization", schema_generator=_SchemaWriter)
    except _UNSCHEMABLE as error:
        raise DeclarationRefused(_explain(error, "the return type")) from error
    return Output(type=adapter, schema=close_output(schema))


class _SchemaWriter(GenerateJsonSchema):
    """Pydantic's own, which would work out afresh for every schema by which method each kind of type is written."""

    def build_schema_type_to_method(self) -> dict[Any, Any]:
        if not _METHODS:
            _METHODS.update({kind: method.__name__ for kind, method in super().build_schema_type_to_method().items()})
        return _Methods(self)


class _Methods(dict[Any, Any]):
    """The methods of one writer, each found when a schema first needs it."""

    def __init__(self, writer: _SchemaWriter) -> None:
        super().__init__()
        self._writer = writer

    def __missing__(self, kind: Any) -> Any:
        method = self[kind] = getattr(self._writer, _METHODS[kind])
        return method


_METHODS: dict[Any, str] = {}


def _explain(error: Exception, what: str) -> str:
    return f"{what} has no JSON Schema: {str(error).splitlines()[0].strip()}"
