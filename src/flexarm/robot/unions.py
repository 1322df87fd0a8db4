"""Kinds that a field may hold, told apart by a tag, where the bare tag may stand for the default of its kind."""

from __future__ import annotations

from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from flexarm.foundation.dataclass import dataclass


@dataclass(frozen=True)
class Shorthand:
    """`joint: weld` for `joint: {type: weld}`; `names` are the kinds that need no further fields.

    Tags are written with hyphens, `point-support`; underscores are read too.
    """

    names: tuple[str, ...] = ()

    def expand(self, value: object) -> object:
        if isinstance(value, str):
            value = {"type": value}
        if isinstance(value, dict) and isinstance(tag := value.get("type"), str):
            return value | {"type": tag.replace("_", "-")}
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.expand, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [{"enum": list(self.names)}, handler(schema)]} if self.names else handler(schema)
