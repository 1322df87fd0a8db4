"""The package as a whole: its public names, what importing it costs, its README."""

import contextlib
import doctest
import inspect
import io
import os
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import flexarm as fa
from flexarm.robot.description import Description

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
# results: nobody makes them by hand, their fields are described where they are read
RESULTS = {
    "ClosedForm",
    "Decay",
    "Derivative",
    "Energy",
    "FrequencyResponse",
    "Linearization",
    "ModeSet",
    "Profile",
    "SimulationState",
    "Spectrum",
}


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
    assert readme["M"].shape == (10, 10)


def test_the_demo_is_the_readmes_robot_and_run(readme):
    from flexarm.robot.io.files import read
    from flexarm.simulation.simulation_file import simulation_options

    file = Path(__file__).parent.parent / "examples" / "two_link.yaml"
    robot, section = read(file)
    assert robot == readme["arm"]
    run = fa.simulate(robot, **simulation_options(section, str(file)))
    assert (run.tip.values == readme["run"].tip.values).all()


def test_what_the_readme_calls_steel_is_steel(readme):
    steel = readme["steel"]
    assert (steel.E, steel.rho) == pytest.approx((2.1e11, 7850), rel=0.05)


def documented():
    """(name, function, its documentation) of all public functions, classes and methods."""
    for name in fa.__all__:
        thing = getattr(fa, name)
        if inspect.ismodule(thing):
            own = {key: each for key, each in vars(thing).items() if getattr(each, "__module__", "") == thing.__name__}
            yield from ((f"{name}.{key}", each, inspect.getdoc(each)) for key, each in own.items())
        elif inspect.isfunction(thing):
            yield name, thing, inspect.getdoc(thing)
        elif inspect.isclass(thing) and not issubclass(thing, Exception):
            if not issubclass(thing, Description) and name not in RESULTS:
                yield name, thing, inspect.getdoc(thing)
            for key in vars(thing):
                method = getattr(thing, key)
                if inspect.isfunction(method) and not key.startswith("_"):
                    yield f"{name}.{key}", method, f"{inspect.getdoc(method)} {thing.__doc__}"


DOCUMENTED = list(documented())


@pytest.mark.parametrize(
    ("function", "text"),
    [pytest.param(*each, id=name) for name, *each in DOCUMENTED],
)
def test_every_parameter_of_every_public_function_is_documented(function, text):
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    assert not [name for name in names if not re.search(rf"(?<!\w){name}(?!\w)", text or "")]


HANDED_ON = ("convergence", "sweep", "monte_carlo", "sensitivity", "plot_sweep")  # options, below
CALLED = [
    name
    for name in fa.__all__
    if callable(getattr(fa, name)) and name not in ("DescriptionError", "Section", *HANDED_ON)
]
CALLED = [name for name in CALLED if not name.endswith("Warning") and not inspect.isabstract(getattr(fa, name))]


@pytest.mark.parametrize("name", CALLED)
def test_an_unknown_keyword_is_refused_by_its_name(name):
    with pytest.raises((TypeError, fa.DescriptionError), match="nonsense"):
        getattr(fa, name)(nonsense=1)


def test_options_that_are_handed_on_are_refused_by_their_names_too():
    with pytest.raises(TypeError, match="nonsense"):
        fa.Run.animate(None, nonsense=1)
    with pytest.raises(TypeError, match="nonsense"):
        fa.convergence(fa.library.rotating_beam(modes=1), 0.01, nonsense=1)
    for many, over in ((fa.sweep, {}), (fa.monte_carlo, {}), (fa.sensitivity, ["links.beam.length"])):
        with pytest.raises(TypeError, match="nonsense"):
            many(fa.library.rotating_beam(modes=1), over, 0.01, nonsense=1)
    with pytest.raises(fa.DescriptionError, match="nonsense"):
        fa.library.two_link_arm().with_(nonsense=1)


PROGRAM = """
import flexarm as fa

robot = fa.load("arm.yaml")
reveal_type(robot)
reveal_type(fa.simulate(robot, 1.0))
reveal_type(fa.modes(robot))
reveal_type(fa.library.two_link_arm())
fa.cycloid(0.0, 1.0, "soon")
"""


def test_a_users_program_is_checked_by_its_types(tmp_path):
    """The lazy package shows its types, and `py.typed` says that they may be used."""
    assert (Path(fa.__file__).parent / "py.typed").exists()
    (tmp_path / "program.py").write_text(PROGRAM)
    words = [sys.executable, "-m", "mypy", str(tmp_path / "program.py")]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    told = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=environment).stdout
    assert re.findall(r'Revealed type is "flexarm\.([\w.]+)"', told) == [
        "robot.robot.Robot",
        "results.run.Run",
        "analysis.modes.ModeSet",
        "robot.robot.Robot",
    ]
    assert 'program.py:9: error: Argument 3 to "cycloid" has incompatible type "str"; expected "float"' in told
    assert "Found 1 error" in told


def test_examples_in_docstrings_are_found_and_run(pytestconfig):
    """Of every room that has functions to be called by hand."""
    assert pytestconfig.getoption("doctestmodules")
    assert "src" in pytestconfig.getini("testpaths")
    finder, rooms = doctest.DocTestFinder(), []
    for module in pkgutil.walk_packages(fa.__path__, "flexarm."):
        rooms += [module.name.split(".")[1] for each in finder.find(import_module(module.name)) if each.examples]
    assert len(rooms) >= 30
    assert {"foundation", "robot", "dynamics", "analysis", "symbolic"} <= set(rooms)


def test_what_stands_beside_the_package_is_of_this_version():
    """The citation and the versions of Python that are tested."""
    assert f"\nversion: {fa.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    tested = re.search(r'python: \["([\d.]+)"', (ROOT / ".github/workflows/test.yml").read_text())[1]
    assert f'requires-python = ">={tested}"' in (ROOT / "pyproject.toml").read_text()


def test_every_link_of_the_readme_leads_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("http") or (ROOT / target).exists(), target
