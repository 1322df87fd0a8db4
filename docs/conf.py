"""Sphinx settings: `make docs` builds the site into build/site."""

from __future__ import annotations

import flexarm

project = "flexarm"
author = "the flexarm authors"
project_copyright = author
version = release = flexarm.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
napoleon_google_docstring = False
default_role = "code"
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
