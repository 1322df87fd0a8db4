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

autodoc_typehints = "none"  # docstrings describe types and units
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 90
smartquotes = False

UNDERLINE = re.compile(r"^-{3,}$")  # of the heading of a numpydoc section


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", docstring, priority=400)  # before napoleon, which reads numpydoc sections
    app.connect("autodoc-process-signature", signature)


def docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Turn a docstring into reStructuredText: text with `code`, and arguments in numpydoc sections or, in docstrings
    without sections, as `name: meaning` with hanging lines."""
    if any(UNDERLINE.match(line) for line in lines):
        lines[:] = numpydoc(lines)
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


def numpydoc(lines: list[str]) -> list[str]:
    """Return the lines of a docstring with its text as reStructuredText; headings, names and examples as they are."""
    out: list[str] = []
    example = False
    for line in lines:
        example = line.startswith(">>>") or (example and bool(line.strip()))
        kept = example or UNDERLINE.match(line) or re.match(r"^[\w, *]+ : ", line)
        out.append(line if kept else plain(line))
    return out


def plain(text: str) -> str:
    """Return reStructuredText that shows a text literally, `code` as code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:  # code that continues in the next line
        return text
    words = [re.sub(r"([*|_\\])", r"\\\1", piece) for piece in pieces[::2]]
    out = words[0]
    for code, after in zip(pieces[1::2], words[1:], strict=True):
        out += f"``{code}``" + ("\\ " if after[:1].isalnum() else "") + after
    return out


def signature(app: Any, what: str, name: str, thing: Any, options: Any, given: str, returns: str) -> Any:
    """Return the signature of a description: its fields."""
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
