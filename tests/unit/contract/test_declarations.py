"""A declaration that says too little, or contradicts itself, is refused where it is written, with the gap named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from ringfence import Context, Files, Limits, Network, Processes, Result, Retry, Secrets, Storage, Tool, tool
from ringfence.contract.safety import Egress, Safety, derive_egress
from ringfence.errors import DeclarationRefused


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


def declared(function: Callable[..., Any], **said: Any) -> Tool:
    options: dict[str, Any] = {"safety": "read", **said}
    return tool(**options)(function)


def annotated(**hints: Any) -> Callable[..., str]:
    """A function of one parameter, with these annotations and no other."""

    def given(name: str) -> str:
        """Take something."""
        return name

    given.__annotations__ = hints
    return given


OPEN: list[Any] = [
    Any, object, dict, dict[str, Any], dict[str, object], list, list[Any], tuple, set, int | Any, list[dict[str, Any]],
    Callable[[], None], type, list[Loose], "NotDefinedAnywhere",
]  # fmt: skip


@pytest.mark.req("CON-2")
@pytest.mark.parametrize("annotation", OPEN, ids=repr)
def test_a_parameter_that_says_too_little_is_refused_by_name(annotation: Any) -> None:
    named = "NotDefinedAnywhere|Loose" if annotation in (list[Loose], "NotDefinedAnywhere") else "parameter `name`"
    with pytest.raises(DeclarationRefused, match=named):
        declared(annotated(name=annotation, **{"return": str}))


@pytest.mark.req("CON-2")
def test_a_parameter_without_an_annotation_or_a_name_for_callers_is_refused() -> None:
    def many(*names: str) -> str:
        """Take many."""
        return str(names)

    def hidden(_name: str) -> str:
        """Hide it."""
        return _name

    def placed(name: str, /) -> str:
        """Take it by its place."""
        return name

    for function, named in (
        (annotated(**{"return": str}), "name"),
        (many, "names"),
        (hidden, "_name"),
        (placed, "name"),
    ):
        with pytest.raises(DeclarationRefused, match=f"parameter `{named}`"):
            declared(function)


def _silent(name: str) -> str:
    return name


@pytest.mark.req("CON-1", "CON-2")
@pytest.mark.parametrize(
    ("function", "gap"),
    [
        (_silent, "docstring"),
        (annotated(name=str), "return type"),
        (annotated(name=str, **{"return": Any}), "return type"),
        (annotated(name=str, **{"return": Result}), "Result"),
    ],
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
        held: Annotated[str, Field(max_length=100_000)],
        many: list[int],
        named: dict[str, int],
        few: Annotated[int, Field(ge=0)] = 1,
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
