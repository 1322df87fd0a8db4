"""Sphinx settings: `make docs` builds the site into build/site."""

from __future__ import annotations

import re
from typing import Any

import flexarm
from flexarm.robot.description import Description

project = "flexarm"
author = "the flexarm authors"
project_copyright = author
version = release = flexarm.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
napoleon_google_docstring = False
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
html_theme = "furo"
html_title = f"flexarm {release}"
html_show_sourcelink = False
exclude_patterns = ["generate.py"]

autodoc_typehints = "none"  # docstrings say what things are, with their units
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 90
smartquotes = False


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", docstring, priority=400)  # before napoleon, which reads numpydoc sections
    app.connect("autodoc-process-signature", signature)


def docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Convert a docstring to reStructuredText.

    Text is plain, with `code`. Sections of numpydoc keep their form; without them, `name: meaning` with hanging lines
    is a list of arguments.
    """
    if any(re.fullmatch("-{3,}", line) for line in lines):
        lines[:] = [line if re.match(r">>>|\S+(, \S+)* : ", line) else plain(line) for line in lines]
        return
    out: list[str] = []
    example = False
    for line in lines:
        example = line.startswith(">>>") or (example and bool(line.strip()))
        if example:
            out += ["", line] if out and out[-1].startswith(("- ", "  ")) else [line]
            continue
        listed = bool(out) and out[-1].startswith(("- ", "  "))
        argument = re.match(r"^(\w+(?:, \w+)*): (?=\S)", line)
        if argument and (listed or not out or not out[-1].strip()):
            out.append(f"- **{argument[1]}**: {plain(line[argument.end() :])}")
        elif listed and line.startswith(" "):
            out.append("  " + plain(line.strip()))
        else:
            out += ["", plain(line)] if listed and line.strip() else [plain(line)]
    lines[:] = out


def plain(text: str) -> str:
    """reStructuredText that shows a text as it is written, `code` as code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:  # code that goes on in the next line
        return text
    words = [re.sub(r"([*|_\\])", r"\\\1", piece) for piece in pieces[::2]]
    out = words[0]
    for code, after in zip(pieces[1::2], words[1:], strict=True):
        out += f"``{code}``" + ("\\ " if after[:1].isalnum() else "") + after
    return out


def signature(app: Any, what: str, name: str, thing: Any, options: Any, given: str, returns: str) -> Any:
    """Descriptions are called by their fields."""
    if not (isinstance(thing, type) and issubclass(thing, Description)):
        return given, returns
    fields = []
    for field, info in thing.model_fields.items():
        simple = isinstance(info.default, (int, float, str, tuple, type(None))) and field not in ("type", "shape")
        if info.is_required():
            fields.append(field)
        elif simple:
            fields.append(f"{field}={info.default!r}")
        elif field not in ("type", "shape"):
            fields.append(f"{field}=...")
    return f"({', '.join(fields)})", None
