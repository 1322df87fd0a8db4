"""Open and keep: robot files and runs from the browser, and pictures, films, tables and files to it."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from flexarm.foundation.heard import heard
from flexarm.motion.run import Run
from flexarm.studio.files import opened, plain_name, run_file, yaml_file
from flexarm.studio.kept_panel import KeptPanel
from flexarm.studio.program import python_program
from flexarm.studio.sweep import Sweep

if TYPE_CHECKING:
    from flexarm.studio.page import Page

OPEN = "Open robot, run or sweep (.yaml, .nc)"
CODE = '<pre style="overflow:auto;font-size:11px;margin:6px 10px;padding:6px;background:#f4f6f8">{}</pre>'


class FilesPanel:
    """The handles for files of a page."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self._open = gui.add_upload_button(OPEN, mime_type=".yaml,.yml,.nc")
        self._beside = gui.add_checkbox("open runs beside this one", False)
        self.kept = KeptPanel(page)
        self._kind = gui.add_dropdown(
            "save", ("YAML", "Python", "NetCDF", "CSV", "PNG", "GIF", "MP4"), initial_value="YAML"
        )
        self._save = gui.add_button("Save")
        self._code = gui.add_html("", visible=False)

        async def uploaded(event: Any) -> None:
            file = event.target.value
            page.want(lambda: self.take(file.name, file.content))

        async def saved(event: Any) -> None:
            kind = str(self._kind.value)
            page.do(lambda: self._give(kind))

        self._open.on_upload(uploaded)
        self._save.on_click(saved)

    def clear(self) -> None:
        """Another case: the text that is shown is of the one before."""
        if self._code.visible:
            self._code.content, self._code.visible = "", False

    def take(self, name: str, content: bytes) -> None:
        """A file that came from the browser."""
        self._page.forget()
        with heard() as said:
            found = opened(name, content)
        if isinstance(found, Sweep):
            self._page.sweeps.take(found, self._page.case)
        elif isinstance(found, Run) and self._beside.value:
            self.kept.hold(name, self._page.recorded(found))
        else:
            self._page.open(found, said=said)

    def _give(self, kind: str) -> None:
        page = self._page
        assert page.result is not None
        page.forget()
        stem = plain_name(page.result.system.robot.name)
        if kind in ("YAML", "Python"):
            if page.case is None:
                raise ValueError("a recorded run has no simulation to write; save it as NetCDF")
            gaps: tuple[str, ...] = ()
            if kind == "YAML":
                text = yaml_file(page.case)
            else:
                program = python_program(page.case)
                text, gaps = program.text.encode(), program.gaps
            self._code.content = CODE.format(html.escape(text.decode()))  # to be copied
            self._code.visible = True
            self._send(f"{stem}.{'yaml' if kind == 'YAML' else 'py'}", text)
            if gaps:
                raise ValueError(
                    f"copy as Python: {', '.join(gaps)} came from Python and cannot be written; "
                    "put it where from_python stands"
                )
        elif kind in ("PNG", "GIF", "MP4"):
            page.pictures.give(kind.lower(), stem)
        else:
            ending = {"NetCDF": ".nc", "CSV": ".csv"}[kind]
            self._send(f"{stem}{ending}", run_file(page.result.run, ending))

    def _send(self, name: str, content: bytes) -> None:
        self._page.client.send_file_download(name, content, save_immediately=True)
