"""What the studio's own script tells a page: files that were dropped on it, points of maps that were clicked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flexarm.foundation.sentences import shown
from flexarm.studio.files import too_large
from flexarm.studio.served import LARGEST

if TYPE_CHECKING:
    from flexarm.studio.page import Page

MARK = '<i data-studio="{}"></i>'  # stands before what `page.js` looks for and hides
LONGEST = 2000  # characters of what is told


class Told:
    """Elements of a page that nobody sees: the script puts into them what happened."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        gui.add_html(MARK.format("told"))
        words = gui.add_text("told by the page", "")
        gui.add_html(MARK.format("dropped"))
        dropped = gui.add_upload_button("dropped on the page", mime_type=".yaml,.yml,.nc")

        async def heard(event: Any) -> None:
            if event.client is not None:
                text = str(event.target.value)
                page.want(lambda: self.hear(text))

        async def uploaded(event: Any) -> None:
            file = event.target.value
            page.want(lambda: page.files.take(file.name, file.content))

        words.on_update(heard)
        dropped.on_upload(uploaded)

    def hear(self, text: str) -> None:
        """One thing that happened; what is no such thing is nobody's."""
        try:
            said = json.loads(text[:LONGEST])
            kind = said["kind"]
            if kind == "map":
                x, y = float(said["x"]), float(said["y"])
            elif kind == "large":
                name, size = str(said["name"]), int(said["size"])
            elif kind == "several":
                count = int(said["count"])
            else:
                return
        except (ValueError, TypeError, KeyError):
            return
        self._page.forget()
        if kind == "map":
            self._page.sweeps.clicked(x, y)
        elif kind == "large" and size > LARGEST:
            raise ValueError(too_large(name, size))
        elif kind == "several":
            raise ValueError(f"{shown(count)} files were dropped: drop one at a time")
