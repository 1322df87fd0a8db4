"""A viser client without a browser: its handles store what they are given, and tests act as the user."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from flexarm.studio.case import StudioCase


def value_of(case: StudioCase, name: str) -> float:
    """Return the value of a parameter."""
    return next(each.value for each in case.parameters() if each.name == name)


class Handle:
    """Any element of a page or of a scene."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)
        self.callbacks: list[Any] = []
        self.removed = False

    def on_update(self, callback: Any) -> Any:
        self.callbacks.append(callback)
        return callback

    on_click = on_upload = on_update

    def remove(self) -> None:
        self.removed = True

    def add_tab(self, label: str, icon: Any = None) -> Handle:
        return Handle(label=label)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None

    def set_by_user(self, value: Any = True) -> None:
        """Set a value as a user does."""
        self.value = value
        event = SimpleNamespace(client=object(), client_id=1, target=self)
        for callback in self.callbacks:
            asyncio.run(callback(event))


class Maker:
    """Creates handles for all `add_...` methods, and lists them by hint or label."""

    def __init__(self) -> None:
        self.made: dict[str, Handle] = {}
        self.main_panel = Handle()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def make(*values: Any, **fields: Any) -> Handle:
            own = dict(fields)
            if name == "add_dropdown":
                own["options"] = values[1]
            if "initial_value" in own:
                own["value"] = own.pop("initial_value")
            elif name == "add_progress_bar":
                own["value"] = values[0]
            elif name in ("add_number", "add_checkbox", "add_text"):
                own["value"] = values[1]
            elif name == "add_slider":
                own |= dict(zip(("min", "max", "step", "value"), values[1:], strict=False))
            elif name == "add_button_group":
                own["value"] = values[1][0]
            elif name in ("add_html", "add_markdown"):
                own["content"] = values[0]
            elif name == "add_mesh_simple":
                own |= {"vertices": values[1], "faces": values[2], "visible": True}
            elif name in ("add_line_segments", "add_arrows"):
                own |= {"points": values[1], "visible": True}
            elif name == "add_uplot":
                own |= {"data": values[0], "series": values[1]}
            handle = Handle(kind=name, label=values[0] if values else None, **own)
            self.made[str(fields.get("hint") or (values[0] if values else name))] = handle
            return handle

        return make


class Client:
    """The client that a page draws to."""

    def __init__(self, number: int = 1) -> None:
        self.client_id, self.gui, self.scene = number, Maker(), Maker()
        self.camera = SimpleNamespace(wxyz=(1.0, 0.0, 0.0, 0.0), fov=1.3, image_width=320, image_height=240)
        self.files: dict[str, bytes] = {}

    @contextmanager
    def atomic(self) -> Any:
        yield

    def flush(self) -> None:
        pass

    def get_render(self, height: int, width: int, **_: Any) -> Any:
        """Return a picture in which the tip of the arm is a square as far to the right as its y coordinate (m)."""
        image = np.zeros((height, width, 4), dtype=np.uint8)
        arm = self.scene.made["/robot/arm"].vertices
        column = width // 2 + int(width / 4 * arm[: len(arm) // 2, 1].max())
        image[100:140, column : column + 20] = (45, 110, 160, 255)
        return image

    def send_file_download(self, name: str, content: bytes, **_: Any) -> None:
        self.files[name] = content
