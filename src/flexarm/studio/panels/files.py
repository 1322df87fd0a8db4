"""Panels to open and save files, and to keep runs for comparison."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from flexarm.foundation.messages import collect_warnings, shown
from flexarm.results.run import Run
from flexarm.studio.compute import Result
from flexarm.studio.export_python import Program
from flexarm.studio.files import encode_run, encode_yaml, read_upload, safe_file_name
from flexarm.studio.panels.view import RESERVED_NAMES
from flexarm.studio.panels.widgets import on_click, on_input, text_box
from flexarm.studio.sweeps import SweepResults

if TYPE_CHECKING:
    from flexarm.studio.page import Page


MAX_KEPT_RUNS = 8


class KeptPanel:
    """The fields for the runs that a page keeps."""

    def __init__(self, page: Page) -> None:
        self._page, self._count, gui = page, 0, page.client.gui
        self._keep_button = gui.add_button("Keep this run to compare")
        self._text = gui.add_html("", visible=False)
        self._which = gui.add_dropdown("kept", ("-",), initial_value="-", visible=False)
        self._name = gui.add_text("its name", "", hint="type a new name to rename the run; plots and ghosts use it")
        self._name.visible = False
        self._drop = gui.add_button("Forget this run", visible=False)

        on_click(lambda: page.act(self.keep), self._keep_button)
        on_input(lambda: page.act(self._choose), self._which)
        on_input(lambda: page.act(self.rename), self._name)
        on_click(lambda: page.act(self.drop), self._drop)

    def keep(self) -> None:
        """Keep the current run for comparison."""
        page = self._page
        assert page.result is not None
        self._count += 1
        while (name := f"run {self._count}") in page.kept:  # a name that the user gave to another run
            self._count += 1
        self.add_run(name, page.result)

    def rename(self) -> None:
        """Give the chosen run the typed name."""
        page, before, name = self._page, str(self._which.value), str(self._name.value).strip()
        if before not in page.kept or name in ("", before):  # an empty name may be incomplete
            return
        if name in page.kept or name in RESERVED_NAMES:
            raise ValueError(f"its name = {shown(name)}: must differ from the names of other runs and ghosts")
        page.kept = {name if each == before else each: result for each, result in page.kept.items()}
        page.view.offer(list(page.kept), (before, name))
        self._list(name, typed=True)
        page.redraw()

    def drop(self) -> None:
        """Remove the chosen run."""
        page = self._page
        if page.kept.pop(str(self._which.value), None) is not None:
            page.view.offer(list(page.kept))
            self._list(next(reversed(page.kept), ""))
            page.redraw()

    def add_run(self, name: str, result: Result) -> None:
        """Keep a run under a name; the oldest run is removed if there are too many."""
        kept = self._page.kept
        kept.pop(name, None)  # moves it to the end
        kept[name] = result
        while len(kept) > MAX_KEPT_RUNS:
            kept.pop(next(iter(kept)))
        self._page.view.offer(list(kept))
        self._list(name)
        self._page.redraw()  # it may be a ghost

    def _choose(self) -> None:
        self._name.value = str(self._which.value)

    def _list(self, name: str, typed: bool = False) -> None:
        """List the kept runs and choose one; its name field is unchanged if `typed`."""
        kept = list(self._page.kept)
        for handle in (self._text, self._which, self._name, self._drop):
            handle.visible = bool(kept)
        self._which.options = tuple(kept) or ("-",)
        self._which.value = name if name in kept else "-"
        if not typed:
            self._name.value = name
        count = f"{len(kept)} of at most {MAX_KEPT_RUNS} runs kept"
        self._text.content = text_box(f"{count}: {', '.join(kept)}. Show them by View, ghost.")


OPEN_LABEL = "Open robot, run or sweep (.yaml, .nc)"


class FilesPanel:
    """The fields to open and save files."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self._open = gui.add_upload_button(OPEN_LABEL, mime_type=".yaml,.yml,.nc")
        self._as_ghost = gui.add_checkbox("open runs as ghosts", False)
        self.kept = KeptPanel(page)
        self._kind = gui.add_dropdown(
            "save", ("YAML", "Python", "NetCDF", "CSV", "PNG", "GIF", "MP4"), initial_value="YAML"
        )
        save = gui.add_button("Save")
        self._code = gui.add_html("", visible=False)

        async def uploaded(event: Any) -> None:
            file = event.target.value
            page.submit_run(lambda: self.receive(file.name, file.content))

        self._open.on_upload(uploaded)
        on_click(lambda: page.act(self.save), save)

    def clear(self) -> None:
        """Remove the text of the previous case."""
        if self._code.visible:
            self._code.content, self._code.visible = "", False

    def receive(self, name: str, content: bytes) -> None:
        """Open a file from the browser."""
        with collect_warnings() as messages:
            found = read_upload(name, content)
        if isinstance(found, SweepResults):
            self._page.sweeps.show_sweep(found, self._page.case)
        elif isinstance(found, Run) and self._as_ghost.value:
            self.kept.add_run(name, self._page.load_recorded(found))
        else:
            self._page.open(found, warned=messages)

    def save(self) -> None:
        """Send the run, the case or a picture of the chosen kind to the browser."""
        page, kind = self._page, str(self._kind.value)
        stem = safe_file_name(page.shown.system.robot.name)
        if kind in ("PNG", "GIF", "MP4"):
            page.pictures.save(kind.lower(), stem)
        elif kind in ("NetCDF", "CSV"):
            ending = {"NetCDF": "nc", "CSV": "csv"}[kind]
            page.download(f"{stem}.{ending}", encode_run(page.shown.run, ending))
        elif page.case is None:
            raise ValueError("a recorded run has no simulation to write; save it as NetCDF")
        elif kind == "YAML":
            self._download_text(f"{stem}.yaml", encode_yaml(page.case))
        else:
            program = Program(page.case)
            self._download_text(f"{stem}.py", program.text)
            if program.gaps:
                raise ValueError(
                    f"save as Python: {', '.join(program.gaps)}: Python objects cannot be exported; "
                    "insert them in place of from_python"
                )

    def _download_text(self, name: str, text: str) -> None:
        self._code.content, self._code.visible = f"<pre class='studio-code'>{html.escape(text)}</pre>", True
        self._page.download(name, text.encode())
