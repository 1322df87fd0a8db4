"""Runs that are kept to be compared with: listed, renamed, forgotten.

Open and keep: robot files and runs from the browser, and pictures, films, tables and files to it.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from flexarm.foundation.messages import collect_warnings, shown
from flexarm.results.run import Run
from flexarm.studio.compute import Result
from flexarm.studio.export_python import python_program
from flexarm.studio.files import opened, plain_name, run_file, yaml_file
from flexarm.studio.panels.view import RESERVED
from flexarm.studio.panels.widgets import box
from flexarm.studio.sweep_members import SweepResults

if TYPE_CHECKING:
    from flexarm.studio.page import Page


KEPT = 8  # runs to compare with


class KeptPanel:
    """The handles for runs that a page keeps."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self._hold = gui.add_button("Keep this run to compare")
        self._said = gui.add_html("", visible=False)
        self._which = gui.add_dropdown("kept", ("-",), initial_value="-", visible=False)
        self._name = gui.add_text("its name", "", hint="type another to rename it; plots and ghosts have this name")
        self._name.visible = False
        self._drop = gui.add_button("Forget this run", visible=False)

        async def held(event: Any) -> None:
            page.do(self.keep)

        async def chosen(event: Any) -> None:
            if event.client is not None:
                page.do(self._choose)

        async def renamed(event: Any) -> None:
            if event.client is not None:
                name = str(event.target.value)
                page.do(lambda: self.rename(name))

        async def dropped(event: Any) -> None:
            page.do(self.drop)

        self._hold.on_click(held)
        self._which.on_update(chosen)
        self._name.on_update(renamed)
        self._drop.on_click(dropped)

    def keep(self) -> None:
        """The run that is shown, to be compared with later ones."""
        page = self._page
        page.forget()
        if page.result is not None:
            page.kept_runs += 1
            while (name := f"run {page.kept_runs}") in page.kept:  # somebody's name for another
                page.kept_runs += 1
            self.hold(name, page.result)

    def rename(self, name: str) -> None:
        """Call the run that is chosen otherwise."""
        page, before, name = self._page, str(self._which.value), name.strip()
        page.forget()
        if before not in page.kept or name in ("", before):  # an empty one is half of another
            return
        if name in page.kept or name in RESERVED:
            raise ValueError(f"its name = {shown(name)}: must be one that no other run or ghost has")
        found = {name if each == before else each: result for each, result in page.kept.items()}
        page.kept.clear()
        page.kept.update(found)
        page.view.renamed(before, name, list(page.kept))
        self._list(name, typed=True)
        page.redraw()

    def drop(self) -> None:
        """Forget the run that is chosen."""
        page = self._page
        page.forget()
        if page.kept.pop(str(self._which.value), None) is not None:
            page.view.offer(list(page.kept))
            self._list(next(reversed(page.kept), ""))
            page.redraw()

    def hold(self, name: str, result: Result) -> None:
        kept = self._page.kept
        kept.pop(name, None)  # another run of that name is the latest
        kept[name] = result
        while len(kept) > KEPT:
            kept.pop(next(iter(kept)))
        self._page.view.offer(list(kept))
        self._list(name)
        self._page.redraw()  # it may be one that is shown

    def _choose(self) -> None:
        self._name.value = str(self._which.value)

    def _list(self, name: str, typed: bool = False) -> None:
        """Which runs are kept, and this one of them to be renamed or forgotten."""
        kept = list(self._page.kept)
        for handle in (self._said, self._which, self._name, self._drop):
            handle.visible = bool(kept)
        self._which.options = tuple(kept) or ("-",)
        self._which.value = name if name in kept else "-"
        if not typed:
            self._name.value = name
        listed = ", ".join(kept)
        self._said.content = box(f"{len(kept)} of at most {KEPT} runs kept: {listed}. View, ghost, shows them beside.")


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
        with collect_warnings() as said:
            found = opened(name, content)
        if isinstance(found, SweepResults):
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
