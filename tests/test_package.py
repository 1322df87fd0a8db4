"""The package as a whole: its public names, what importing it costs, its README."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import flexarm as fa

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_import_loads_nothing_heavy():
    """numpy, casadi and pydantic only; what plots, prints tables or reads files comes when it is needed."""
    code = "import sys, flexarm; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    for heavy in ("scipy", "matplotlib", "sympy", "xarray", "rich", "typer", "ruamel.yaml", "pandas"):
        assert heavy not in loaded


def test_public_names_exist_and_say_what_they_are():
    for name in fa.__all__:
        assert (getattr(fa, name).__doc__ or "").strip(), name


@pytest.mark.parametrize("name", [n for n in fa.__all__ if hasattr(getattr(fa, n), "model_fields")])
def test_every_field_of_every_description_is_documented(name):
    for field, info in getattr(fa, name).model_fields.items():
        assert info.description or field in ("type", "shape"), f"{name}.{field}"


def test_the_readmes_program_prints_what_it_says():
    program, output = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.S).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(program, {})
    assert [line.rstrip() for line in printed.getvalue().splitlines()] == [
        line.rstrip() for line in output.splitlines()
    ]


def test_every_link_of_the_readme_leads_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("http") or (Path(__file__).parent.parent / target).exists(), target


def test_type_checkers_see_through_the_late_imports(tmp_path):
    """`fa.load` gives a Robot, and a name that is not there is refused."""
    program = tmp_path / "program.py"
    program.write_text("import flexarm as fa\nreveal_type(fa.load('a.yaml'))\nfa.laod\n")
    environment = os.environ | {"MYPYPATH": str(Path(fa.__file__).parents[1])}
    quickly = ["--no-site-packages", "--ignore-missing-imports", "--cache-dir", str(tmp_path)]
    command = [sys.executable, "-m", "mypy", *quickly, str(program)]
    said = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert 'Revealed type is "flexarm.robot.robot.Robot"' in said
    assert 'Module has no attribute "laod"' in said
