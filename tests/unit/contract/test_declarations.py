"""A declaration that says too little, or contradicts itself, is refused where it is written, with the gap named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from ringfence import Context, Files, Limits, Network, Processes, Result, Retry, Secrets, Storage, Tool, tool
from ringfence.contract.safety import Egress, Safety, derive_egress
from ringfence.errors import DeclarationRefused


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


def declared(function: Callable[..., Any], **said: Any) -> Tool:
    return tool(**{"safety": "read", **said})(function)


def _missing(name) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """Leave a type out."""
    return str(name)  # pyright: ignore[reportUnknownArgumentType]


def _any(name: Any) -> str:
    """Take anything."""
    return str(name)


def _object(name: object) -> str:
    """Take anything."""
    return str(name)


def _bare_dict(name: dict) -> str:  # type: ignore[type-arg]  # pyright: ignore
    """Take any mapping."""
    return str(name)  # pyright: ignore


def _dict_of_any(name: dict[str, Any]) -> str:
    """Take any mapping."""
    return str(name)


def _bare_list(name: list) -> str:  # type: ignore[type-arg]  # pyright: ignore
    """Take any list."""
    return str(name)  # pyright: ignore


def _list_of_any(name: list[Any]) -> str:
    """Take any list."""
    return str(name)


def _maybe_any(name: int | Any) -> str:
    """Take anything after all."""
    return str(name)


def _loose(name: str, model: Loose) -> str:
    """Take extra fields."""
    return name + model.name


def _many(*name: str) -> str:
    """Take many."""
    return str(name)


def _hidden(_name: str) -> str:
    """Hide it."""
    return _name


def _callable(name: Callable[[], None]) -> str:
    """Take code."""
    return str(name)


@pytest.mark.req("CON-2")
@pytest.mark.parametrize(
    "function",
    [_missing, _any, _object, _bare_dict, _dict_of_any, _bare_list, _list_of_any, _maybe_any, _many, _hidden, _callable],
)
def test_a_parameter_that_says_too_little_is_refused_by_name(function: Callable[..., Any]) -> None:
    with pytest.raises(DeclarationRefused, match="parameter `_?name`"):
        declared(function)


@pytest.mark.req("CON-2")
def test_a_model_that_takes_extra_fields_is_refused() -> None:
    with pytest.raises(DeclarationRefused, match="mapping to anything"):
        declared(_loose)


def _silent(name: str) -> str:
    return name


def _no_return(name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
    """Give something."""
    return name


def _any_return(name: str) -> Any:
    """Give anything."""
    return name


def _result_of_what(name: str) -> Result:  # type: ignore[type-arg]  # pyright: ignore
    """Give a result."""
    return Result(name)  # pyright: ignore


@pytest.mark.req("CON-1", "CON-2")
@pytest.mark.parametrize(
    ("function", "gap"),
    [(_silent, "docstring"), (_no_return, "return type"), (_any_return, "return type"), (_result_of_what, "Result")],
)
def test_a_missing_docstring_or_return_type_is_refused(function: Callable[..., Any], gap: str) -> None:
    with pytest.raises(DeclarationRefused, match=gap):
        declared(function)


def read(name: str) -> str:
    """Read."""
    return name


@pytest.mark.req("CON-4")
@pytest.mark.parametrize(
    ("said", "gap"),
    [
        ({"safety": "harmless"}, "harmless"),
        ({"safety": "network", "idempotency": "optional"}, "Network"),
        ({"safety": "financial", "idempotency": "optional"}, "required"),
        ({"safety": "privileged"}, "idempotency"),
        ({"safety": "write", "idempotency": "sometimes"}, "sometimes"),
        ({"approval": "nobody"}, "nobody"),
        ({"approval": "pack:"}, "pack:"),
        ({"needs": [Files()]}, "lists nothing"),
        ({"needs": [Network()]}, "lists nothing"),
        ({"needs": [Processes()]}, "lists nothing"),
        ({"needs": ["network"]}, "network"),
        ({"available": ["a secret"]}, "a secret"),
        ({"available": ["planet:mars"]}, "planet:mars"),
    ],
)
def test_a_contract_that_cannot_be_held_is_refused(said: dict[str, Any], gap: str) -> None:
    with pytest.raises(DeclarationRefused, match=gap):
        declared(read, **said)


@pytest.mark.req("CON-5")
@pytest.mark.parametrize("safety", list(Safety))
@pytest.mark.parametrize("network", ["declared", "absent"])
@pytest.mark.parametrize("said", [None, *Egress])
def test_the_egress_table(safety: Safety, network: str, said: Egress | None) -> None:
    derived = Egress.NONE if network == "absent" else Egress.READ_ONLY if safety is Safety.READ else Egress.WRITE
    contradicts = (said is Egress.NONE) is (network == "declared") or (safety is Safety.READ and said is Egress.WRITE)
    if said is not None and contradicts:
        with pytest.raises(DeclarationRefused):
            derive_egress(safety, network=network, declared=said)
    else:
        assert derive_egress(safety, network=network, declared=said) == (said or derived)


@pytest.mark.req("CON-6")
@pytest.mark.parametrize(
    "make",
    [
        lambda: Secrets("K", hosts=[]),
        lambda: Secrets("lower", hosts=["a.example"]),
        lambda: Secrets("K", hosts=["a.example"], at="body"),
        lambda: Files(read=["/etc"]),
        lambda: Files(read=["../up"]),
        lambda: Files(write=["a\0b"]),
        lambda: Files(read="one"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: Files(read=[""]),
        lambda: Processes("a b"),
        lambda: Processes("bin/../sh"),
        lambda: Storage("everyone"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: Network("*"),
        lambda: Network("a.example", cidrs=["10.0.0.1/8"]),
        lambda: Limits(wall_seconds=0),
        lambda: Limits(memory_mb=-1),
        lambda: Limits(cpu_seconds=float("inf")),
        lambda: Retry(0),
        lambda: Retry(2, -1),
    ],
)
def test_a_need_or_limit_that_means_nothing_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(DeclarationRefused):
        make()


@pytest.mark.req("CON-2")
def test_sizes_that_nobody_stated_get_a_ceiling_and_stated_ones_stay() -> None:
    def sized(
        free: str,
        held: str = Field(max_length=100_000),
        many: list[int] = Field(default_factory=list),
        named: dict[str, int] = Field(default_factory=dict),
        few: int = Field(default=1, ge=0),
    ) -> str:
        """Take things of several sizes."""
        return f"{free}{held}{many}{named}{few}"

    properties = declared(sized).input_schema["properties"]
    assert properties["free"]["maxLength"] == 8_192
    assert properties["held"]["maxLength"] == 100_000
    assert properties["many"]["maxItems"] == 1_000
    assert properties["named"]["maxProperties"] == 1_000
    assert (properties["few"]["minimum"], properties["few"]["maximum"]) == (0, 2**53 - 1)
    assert declared(sized).input_schema["additionalProperties"] is False


@pytest.mark.req("CON-10")
@pytest.mark.parametrize(
    "changed",
    [
        {"version": "2"},
        {"name": "other"},
        {"approval": "human"},
        {"retry": Retry(2)},
        {"limits": Limits(wall_seconds=1)},
        {"available": ["binary:git"]},
        {"output": "trusted"},
        {"labels": ["a"]},
        {"posture": "full"},
        {"far_side_dedupes": True},
        {"idempotency": "optional"},
        {"safety": "write", "idempotency": "optional"},
        {"needs": [Storage("tool")]},
        {"reconcile": read},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_every_declared_word_is_in_the_fingerprint(changed: dict[str, Any]) -> None:
    assert declared(read, **changed).fingerprint != declared(read).fingerprint


@pytest.mark.req("CON-10")
def test_the_same_contract_has_the_same_fingerprint() -> None:
    assert declared(read).fingerprint == declared(read).fingerprint
    assert declared(read).fingerprint.startswith("sha256:")


@pytest.mark.req("CON-1")
def test_a_tool_cannot_be_called_except_through_a_runtime() -> None:
    with pytest.raises(TypeError):
        declared(read)("x")  # type: ignore[operator]  # pyright: ignore[reportCallIssue]


@pytest.mark.req("CON-1", "CON-12")
async def test_choices_defaults_and_the_context_are_read_off_the_signature() -> None:
    async def choose(ctx: Context, kind: Literal["a", "b"], size: int = 3) -> Result[int]:
        """Choose one."""
        return Result(size)

    made = declared(choose)
    assert made.input_schema["properties"]["kind"]["enum"] == ["a", "b"]
    assert "ctx" not in made.input_schema["properties"]
    assert made.output_schema["type"] == "integer"


@pytest.mark.req("CON-2")
def test_a_default_that_does_not_fit_its_own_type_is_seen_in_the_schema() -> None:
    def odd(size: int = "three") -> str:  # type: ignore[assignment]  # pyright: ignore[reportArgumentType]
        """Have an odd default."""
        return str(size)

    assert declared(odd).input_schema["properties"]["size"]["type"] == "integer"
