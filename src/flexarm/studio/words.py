"""Words in a page, in boxes."""

from __future__ import annotations

import html

PLAIN = ("#eef3f7", "#20303c")
NOTE = ("#fff6e0", "#6b4a00")
BAD = ("#fdecea", "#b3261e")


def box(text: str, paper: str = PLAIN[0], ink: str = PLAIN[1], mark: str = "") -> str:
    """A text as HTML; whatever is in it is text. `mark`: attributes by which `page.js` finds it.

    >>> "<b>" in box("<b>")
    False
    """
    style = f"background:{paper};color:{ink};padding:6px 10px;margin:4px 8px;border-radius:4px;font-size:12px"
    return f'<div {mark} style="{style};overflow-wrap:anywhere">{html.escape(text)}</div>'
