"""What a page keeps and opens: robots, runs, tables and films as bytes with a name."""

from __future__ import annotations

import pprint
import re
import tempfile
from pathlib import Path
from typing import Any

from flexarm.foundation.sentences import shown
from flexarm.motion.laws import Feedback
from flexarm.motion.profiles import Profile
from flexarm.motion.run import Run
from flexarm.robot.files import plain, yaml_text
from flexarm.studio.case import Case, Scaled

LARGEST = 50_000_000  # bytes of a file that is opened
ENDINGS = (".yaml", ".yml", ".nc")


def opened(name: str, content: bytes) -> Case | Run:
    """A robot file or a run, from what a browser sent. Nothing in it is executed, no other file is read."""
    ending = Path(name).suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{shown(name)}: must be a robot (.yaml) or a run (.nc)")
    if len(content) > LARGEST:
        raise ValueError(f"{shown(name)}: has {len(content) / 1e6:.0f} MB; at most {LARGEST / 1e6:.0f} are opened here")
    with tempfile.TemporaryDirectory(prefix="flexarm-studio-") as folder:
        path = Path(folder) / f"{_plain_name(Path(name).stem)}{ending}"
        path.write_bytes(content)
        try:
            if ending == ".nc":
                run = Run.load(path)
                run.data.load()
                return run
            found = Case.of_file(path)
        except (ValueError, OSError) as error:
            raise ValueError(str(error).replace(f"{folder}/", "")) from None
        return Case(found.robot, found.plan, path.name, found.made_up)


def yaml_file(case: Case) -> bytes:
    """Robot and simulation as a robot file."""
    section = case.section
    if section is None:
        raise ValueError(
            "save as YAML: profiles and laws that are Python objects cannot stand in a file; copy as Python"
        )
    return yaml_text(case.robot, section).encode()


def python_text(case: Case) -> str:
    """The case as a program that computes it."""
    robot = pprint.pformat(plain(case.robot), sort_dicts=False, width=110)
    lines = ["import flexarm as fa", "", f"robot = fa.Robot.model_validate(\n{_indented(robot)}\n)"]
    options = ", ".join(f"{name}={_written(value)}" for name, value in case.plan.items() if value is not None)
    return "\n".join([*lines, f"run = fa.simulate(robot, {options})", ""])


def run_file(run: Run, ending: str, **film: Any) -> bytes:
    """A run as .nc or .csv, or its film as .gif or .mp4."""
    with tempfile.TemporaryDirectory(prefix="flexarm-studio-") as folder:
        path = Path(folder) / f"run{ending}"
        if ending == ".nc":
            run.save(path)
        elif ending == ".csv":
            run.to_csv(path)
        else:
            run.animate(path, progress=False, **film)
        return path.read_bytes()


def _plain_name(name: str) -> str:
    return re.sub(r"[^\w-]", "_", name)[:60] or "file"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _written(value: Any) -> str:
    """A value of a plan as it is written in a program."""
    if isinstance(value, Scaled):
        return _written(value.made())
    if isinstance(value, (Profile, Feedback)) or callable(value):
        return f"...,  # {shown(value)}\n   "
    if isinstance(value, dict) and isinstance(value.get("profile"), str):
        fields = ", ".join(f"{name}={_written(each)}" for name, each in value.items() if name != "profile")
        kind = value["profile"].replace("-", "_")
        return _written(value.get("value")) if kind == "constant" else f"fa.{kind}({fields})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name!r}: {_written(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    return repr(value)
