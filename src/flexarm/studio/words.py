"""Words in a page, in boxes."""

from __future__ import annotations

import html

PLAIN = ("#eef3f7", "#20303c")
NOTE = ("#fff6e0", "#6b4a00")
BAD = ("#fdecea", "#b3261e")


def box(text: str, paper: str = PLAIN[0], ink: str = PLAIN[1]) -> str:
    """A text as HTML; whatever is in it is text.

    >>> "<b>" in box("<b>")
    False
    """
    style = f"background:{paper};color:{ink};padding:6px 10px;margin:4px 8px;border-radius:4px;font-size:12px"
    return f'<div style="{style};overflow-wrap:anywhere">{html.escape(text)}</div>'
