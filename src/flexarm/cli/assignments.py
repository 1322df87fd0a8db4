"""`name=value` words of the command line."""

from __future__ import annotations

from typing import Any


def assignments(option: str, words: list[str]) -> dict[str, Any]:
    """Values are read as YAML, so numbers, lists and names all work."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    out = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise ValueError(f"{option} {word}: must look like name=value")
        try:
            out[name] = YAML(typ="safe").load(value)
        except YAMLError:
            raise ValueError(f"{option} {word}: '{value}' cannot be read as a value") from None
    return out
