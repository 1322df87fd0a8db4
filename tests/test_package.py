"""The package as a whole: its public names, what importing it costs, its README."""

import contextlib
import io
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


@pytest.fixture(scope="module")
def readme(tmp_path_factory) -> dict:
    """The variables of the README's programs, run one after the other; each printed what stands below it."""
    names: dict = {}
    with contextlib.chdir(tmp_path_factory.mktemp("readme")):
        for program, said in re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", README, re.S):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(program, names)
            assert [line.rstrip() for line in printed.getvalue().splitlines()] == said.splitlines()
    return names


def test_the_readmes_programs_print_what_they_say(readme):
    assert README.count("```python") == 2
    assert readme["run"].reason == "completed"
    assert readme["M"].shape == (8, 8)


def test_the_demo_is_the_readmes_robot_and_run(readme):
    from flexarm.motion.simulation_file import simulation_options
    from flexarm.robot.files import read

    file = Path(__file__).parent.parent / "examples" / "two_link.yaml"
    robot, section = read(file)
    assert robot == readme["arm"]
    run = fa.simulate(robot, **simulation_options(section, str(file)))
    assert (run.tip.values == readme["run"].tip.values).all()


def test_what_the_readme_calls_steel_is_steel(readme):
    steel = readme["steel"]
    assert (steel.E, steel.rho) == pytest.approx((2.1e11, 7850), rel=0.05)


def test_every_link_of_the_readme_leads_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("http") or (Path(__file__).parent.parent / target).exists(), target
