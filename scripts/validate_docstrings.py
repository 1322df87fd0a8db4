"""Validate the docstrings of all public names by numpydoc: `python scripts/validate_docstrings.py [NAME ...]`.

Public names are those of `flexarm.__all__` with their public methods and properties.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Iterator
from typing import Any

from numpydoc.validate import validate
from pydantic import BaseModel

import flexarm as fa

# Not required for every name: See Also (SA01), extended summary (ES01), examples (EX01), texts of returned values
# (RT03 to RT05). The summary begins on the line of the quotes (GL01, GL03) and may be a noun phrase (SS05).
IGNORED = {"SA01", "ES01", "EX01", "GL01", "GL02", "GL03", "SS05", "RT03", "RT04", "RT05", "PR08", "PR09"}


def public_names() -> Iterator[tuple[str, Any]]:
    """Yield dotted names of public objects and their members defined in the package."""
    for name in sorted(fa.__all__):
        value = getattr(fa, name)
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        yield f"{value.__module__}.{name}", value
        if not inspect.isclass(value) or issubclass(value, (Warning, Exception)):
            continue
        fields = {each.name for each in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else set()
        bases = [each for each in reversed(value.__mro__) if each.__module__.startswith("flexarm")]
        for member, each in {name: each for base in bases for name, each in vars(base).items()}.items():
            is_own = inspect.isfunction(each) or isinstance(each, (property, classmethod, staticmethod))
            inherits = not each.__doc__ and inspect.getdoc(getattr(value, member))  # overrides a documented method
            if is_own and not member.startswith("_") and member not in fields and not inherits:
                yield f"{value.__module__}.{name}.{member}", each


def errors_of(name: str, value: object) -> list[str]:
    """Return the errors of a docstring that are not ignored."""
    is_description = inspect.isclass(value) and issubclass(value, BaseModel)  # its signature has no names
    ignored = IGNORED | ({"PR01", "PR02"} if is_description else set())
    try:
        found = validate(name)["errors"]
    except Exception as error:
        return [f"cannot be parsed ({type(error).__name__}: {error})"]
    return [f"{code} {text}" for code, text in found if code not in ignored]


def main(chosen: list[str]) -> int:
    """Print the errors of all public names, or of chosen ones."""
    count, wrong = 0, 0
    for name, value in public_names():
        if chosen and not any(f".{each}" in name for each in chosen):
            continue
        count += 1
        if errors := errors_of(name, value):
            wrong += 1
            print(f"{name}: {'; '.join(errors)}")
    print(f"{count} public names, {wrong} with errors")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
