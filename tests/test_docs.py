"""The documentation is true: its programs print what they say, its references are complete, its links lead on."""

import contextlib
import inspect
import io
import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import flexarm as fa

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def test_the_file_format_is_that_of_the_schema():
    made = runpy.run_path(str(DOCS / "generate.py"))
    assert (DOCS / "format.md").read_text() == made["page"](), "run python docs/generate.py"


def test_the_file_format_has_every_kind_and_every_field_of_a_simulation():
    from flexarm.simulation.simulation_file import FIELDS

    text = (DOCS / "format.md").read_text()
    for name in fa.schema()["$defs"]:
        assert f"### {name}\n" in text
    for field in FIELDS:
        assert f"`{field}`" in text.partition("## The section `simulation`")[2]


PICTURES = {
    "tutorial.md": ("modes.png", "run.png", "trajectory.png", "arm.gif", "slow.gif", "arm.yaml"),
    "control.md": ("control_bode.png", "control_moves.png"),
    "sweeps.md": ("sweep_map.png", "sweep_spread.png"),
}


@pytest.mark.parametrize("page", PICTURES)
def test_the_tutorials_programs_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    pairs = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", (DOCS / page).read_text(), re.S)
    assert len(pairs) >= 4
    for program, said in pairs:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(program, names)
        if said:
            lines = [line.rstrip() for line in printed.getvalue().rstrip().splitlines()]
            assert lines == [line.rstrip() for line in said.rstrip().splitlines()]
    for name in PICTURES[page]:
        assert (tmp_path / name).exists()


def test_every_public_name_is_in_the_api_reference():
    text = (DOCS / "api.md").read_text()
    listed = set(re.findall(r"\.\. auto\w+:: (\w+)", text))
    assert set(fa.__all__) - listed == {"__version__", "library"}


def test_every_robot_of_the_library_is_in_the_api_reference():
    members = re.search(r"automodule:: flexarm\.robot\.library\n +:members: (.*)", (DOCS / "api.md").read_text())
    assert members is not None
    functions = inspect.getmembers(fa.library, inspect.isfunction)
    robots = {name for name, each in functions if each.__module__ == fa.library.__name__ and name[0] != "_"}
    assert set(members[1].split(", ")) == robots


def test_no_extra_is_installed_by_a_name_that_no_index_has():
    """The package is installed from its sources; `flexarm[studio]` would be looked for on an index."""
    texts = [ROOT / "README.md", *DOCS.glob("*.md"), *ROOT.glob("examples/*.py"), *ROOT.glob("src/flexarm/**/*.py")]
    assert [path.name for path in texts if re.search(r"pip install .?flexarm\[", path.read_text())] == []


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert target.startswith("http") or (DOCS / target).exists(), target


def test_every_path_on_the_design_page_exists():
    folders = (ROOT / "src" / "flexarm", ROOT, ROOT / "studies" / "flexarm_papers")
    named = re.findall(r"`([\w/.]+\.(?:py|pyi|c|js|md|toml)|\w+(?:/\w+)+/?)`", (DOCS / "design.md").read_text())
    paths = {path for path in named if not re.search("PACKAGE|NAME", path)}
    assert len(paths) > 150
    assert [path for path in sorted(paths) if not any((folder / path).exists() for folder in folders)] == []


def test_the_docs_extra_has_what_documented_modules_import():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert "flexarm.gym" in (DOCS / "api.md").read_text()
    assert "flexarm[gym]" in extras["docs"]


def test_the_site_is_built_without_a_warning(tmp_path):
    words = ["--fail-on-warning", "--quiet", "--builder", "html", str(DOCS), str(tmp_path / "site")]
    environment = {**os.environ, "PYTHONPATH": str(Path(fa.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *words], capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    shown = re.sub("<[^>]+>", "", (tmp_path / "site" / "api.html").read_text())
    assert "Simulate the motion of a robot." in shown
    assert re.search(r"Parameters:?\s+times \(sequence of float\)", shown)  # numpydoc sections are lists of arguments
