"""The config's shape as JSON Schema, so that an editor can complete keys and mark mistakes while they are typed.

Takes: the table of keys.  Gives: a schema (draft 2020-12).  Never: is what the loader enforces; it is the same table.
"""

from __future__ import annotations

from typing import Any

from ringfence.assembly.config.keys import FILE
from ringfence.assembly.config.shape import UNSET, Key, Listing, Named, Number, Open, Record, Shape, Text, Word

Schema = dict[str, Any]


def config_schema() -> Schema:
    """The schema of `ringfence.yaml`."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "ringfence.yaml"}
    return {**head, **_schema(FILE)}


def _schema(shape: Shape) -> Schema:
    match shape:
        case Text():
            return _text(shape)
        case Word():
            return {"enum": list(shape.choices)}
        case Number():
            kind = "number" if shape.fraction else "integer"
            least, most = (_plain(bound) for bound in (shape.least, shape.most))
            return {"type": kind, "minimum": least, "maximum": most}
        case Listing():
            many: Schema = {"type": "array", "items": _schema(shape.item)}
            many |= {"minItems": shape.least} if shape.least else {}
            return {"anyOf": [_schema(shape.item), many]} if shape.single else many
        case Named():
            return {"type": "object", "propertyNames": _text(shape.name), "additionalProperties": _schema(shape.value)}
        case Record():
            return _record(shape)
        case Open():
            return {}


def _plain(bound: float) -> float | int:
    return int(bound) if float(bound).is_integer() else bound


def _text(shape: Text) -> Schema:
    pattern = {"pattern": f"^(?:{shape.pattern})$"} if shape.pattern else {}
    return {"type": "string", "description": shape.says, **pattern}


def _record(shape: Record) -> Schema:
    schema: Schema = {
        "type": "object",
        "properties": {name: _described(key) for name, key in shape.keys.items()},
        "required": [name for name, key in shape.keys.items() if key.required],
        "additionalProperties": False,
    }
    bounds = {"minProperties": shape.least or None, "maxProperties": shape.most}
    return schema | {name: bound for name, bound in bounds.items() if bound is not None}


def _described(key: Key) -> Schema:
    default = {} if key.default is UNSET else {"default": list(key.default) if key.default == () else key.default}
    return {**_schema(key.shape), "description": key.means, **default}
