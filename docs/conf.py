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

extensions = ["myst_parser", "sphinx.ext.autodoc"]
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
    app.connect("autodoc-process-docstring", docstring)
    app.connect("autodoc-process-signature", signature)


def docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Our docstrings are plain text with `code`; `name: meaning` with hanging lines is a list of arguments."""
    out: list[str] = []
    for line in lines:
        argument = re.match(r"^(\w+(?:, \w+)*): (?=\S)", line)
        if argument and (not out or not out[-1].strip() or out[-1].startswith(("- ", "  "))):
            if out and out[-1].strip() == "" and len(out) > 1 and out[-2].startswith(("- ", "  ")):
                out.pop()
            line = f"- **{argument[1]}**: {line[argument.end() :]}"
        elif out and out[-1].startswith(("- ", "  ")) and line.startswith(" "):
            line = "  " + line.strip()
        elif out and out[-1].startswith(("- ", "  ")) and line.strip():
            out.append("")
        out.append(
            re.sub(r"`([^`]+)`(\w*)", lambda code: f"``{code[1]}``" + (rf"\ {code[2]}" if code[2] else ""), line)
        )
    lines[:] = out


def signature(app: Any, what: str, name: str, thing: Any, options: Any, given: str, returns: str) -> Any:
    """Descriptions are called by their fields."""
    if not (isinstance(thing, type) and issubclass(thing, Description)):
        return given, returns
    fields = []
    for field, info in thing.model_fields.items():
        plain = isinstance(info.default, (int, float, str, tuple, type(None))) and field not in ("type", "shape")
        if info.is_required():
            fields.append(field)
        elif plain:
            fields.append(f"{field}={info.default!r}")
        elif field not in ("type", "shape"):
            fields.append(f"{field}=...")
    return f"({', '.join(fields)})", None
