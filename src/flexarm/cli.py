"""The command line: `flexarm run`, `modes`, `equations`, `paper`, ... A user of it never sees a traceback."""

from __future__ import annotations

import json
import os
import sys
import warnings
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer

from flexarm._version import __version__

app = typer.Typer(
    help="The dynamics of robots whose links and joints bend.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

FILE = Annotated[Path, typer.Argument(help="robot description (YAML)", show_default=False)]
SET = Annotated[list[str], typer.Option("--set", help="change a parameter: links.fore.payload.mass=0.3 (repeatable)")]

RESULTS = Annotated[Path, typer.Argument(help="results of a run (NetCDF)", show_default=False)]
OTHER = Annotated[Path | None, typer.Option(help="results of another run, drawn beside it")]
MAGNIFY = Annotated[float, typer.Option(help="how much larger than life deflections are drawn")]

PICTURES = (".png", ".pdf", ".svg")
INTERRUPTED = 130  # what a shell expects after Ctrl-C
UsageError: Any = typer.BadParameter.__bases__[0]  # click's, or that of the copy of click inside newer typers


@app.callback(invoke_without_command=True)
def version_option(
    version: Annotated[bool, typer.Option("--version", help="print the version and stop")] = False,
) -> None:
    if version:
        print(f"flexarm {__version__}")
        raise typer.Exit


@app.command()
def run(
    file: FILE,
    output: Annotated[str | None, typer.Option("-o", "--output", help="results (NetCDF); FILE's name with .nc")] = None,
    plot: Annotated[str | None, typer.Option(help="figure of the results; FILE's name with .png")] = None,
    duration: Annotated[float | None, typer.Option(help="simulated time (s) instead of the file's")] = None,
    changes: SET = [],  # noqa: B006
    rigid: Annotated[bool, typer.Option("--rigid", help="run the rigid twin too and show the difference")] = False,
    animate: Annotated[str | None, typer.Option(help="film of the moving arm: .gif, .mp4 or .html")] = None,
    magnify: MAGNIFY = 1.0,
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="let tables lie outside the folder of FILE")
    ] = False,
) -> None:
    """Simulate a robot as its file's `simulation` section says."""
    from rich.console import Console

    import flexarm
    from flexarm.motion.simulation_file import simulation_options
    from flexarm.robot.files import read
    from flexarm.show.runs import run_figure
    from flexarm.show.tables import run_table

    picture = _picture("--plot", file.with_suffix(".png").name if plot is None else plot)
    data = _results("--output", file.with_suffix(".nc").name if output is None else output)
    film = None if animate is None else _film("--animate", animate)
    robot, section = read(file)
    wanted = _assignments("--set", changes)
    section |= {
        name.removeprefix("simulation."): wanted.pop(name) for name in list(wanted) if name.startswith("simulation.")
    }
    if wanted:
        robot = robot.with_(wanted)
    section = section if duration is None else section | {"duration": duration}
    options = simulation_options(section, str(file), robot=robot, outside=allow_outside)
    print(robot)
    found = flexarm.simulate(robot, **options)
    twin = flexarm.simulate(robot.rigid(), **_of_rigid(options, robot.rigid())) if rigid else None
    Console(highlight=False).print(run_table(found, flexarm.modes(robot, q=found.data["q"].values[0]), twin))
    found.save(data)
    _draw(run_figure(found, twin), picture)
    if film is not None:
        found.animate(film, magnify=magnify, other=twin)
    print(f"results in {data}, figure in {picture}" + (f", film in {film}" if film is not None else ""))


@app.command()
def modes(
    file: FILE,
    posture: Annotated[list[str], typer.Option("--q", help="posture: fore.q=0.5 (repeatable)")] = [],  # noqa: B006
    joints: Annotated[str, typer.Option(help="free, locked, or by link: upper=locked,fore=free")] = "free",
    most: Annotated[int, typer.Option(min=1, help="how many modes to list")] = 12,
    changes: SET = [],  # noqa: B006
    mass_matrix: Annotated[bool, typer.Option("--mass-matrix", help="print the mass matrix at the posture")] = False,
    plot: Annotated[str | None, typer.Option(help="draw the first mode shapes into this file")] = None,
) -> None:
    """Print the vibration modes of a robot."""
    from rich.console import Console

    import flexarm
    from flexarm.show.tables import modes_table

    picture = None if plot is None else _picture("--plot", plot)
    robot = flexarm.load(file)
    if changes:
        robot = robot.with_(_assignments("--set", changes))
    hold: Any = joints if joints in ("free", "locked") else _holds(joints)
    found = flexarm.modes(robot, q=_assignments("--q", posture), joints=hold)
    print(robot)
    if not found.names:
        print("this robot has no coordinates: nothing can vibrate")
        return
    Console(highlight=False).print(modes_table(found, most, f"modes, joints {joints}"))
    if found.imbalance > 1e-6:
        print("note: the robot would not stay at this posture by itself; the modes are those about it all the same")
    if len(found) > most:
        print(f"{len(found) - most} more modes; --most {len(found)} lists all")
    if mass_matrix:
        _print_matrix("mass matrix M(q)", found.system.mass_matrix(found.q), found.names)
    if picture is not None:
        from flexarm.show.shapes import plot_modes

        _draw(plot_modes(found), picture)
        print(f"mode shapes drawn in {picture}")


@app.command()
def equations(
    file: FILE,
    form: Annotated[
        str | None, typer.Option("--format", help="text, latex, python, c or matlab; by the ending of -o unless given")
    ] = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help="write to this file instead of printing")] = None,
    parameters: Annotated[str, typer.Option(help="symbolic, numeric, or the symbols to keep: l_1,m_1")] = "symbolic",
    route: Annotated[str, typer.Option(help="assembly of the mass matrix: extended or global")] = "extended",
    nodes: Annotated[list[str], typer.Option("--k", help="node of a nodal joint: fore=2 (repeatable)")] = [],  # noqa: B006
    changes: SET = [],  # noqa: B006
) -> None:
    """Print the equations of motion of a robot in closed form."""
    import flexarm
    from flexarm.foundation.files import write_text

    kind = _format(form, output)
    path = None if output is None else _writable("--output", output)
    robot = flexarm.load(file)
    if changes:
        robot = robot.with_(_assignments("--set", changes))
    words = [each.strip() for each in parameters.split(",")]
    keep: Any = words[0] if words[0] in ("symbolic", "numeric") and len(words) == 1 else words
    way: Any = route
    found = flexarm.equations(robot, parameters=keep, route=way, k=_assignments("--k", nodes))
    written = getattr(found, kind)()
    if path is None:
        print(written)
        return
    write_text(path, written)
    print(f"{found}, written to {path}")


@app.command()
def plot(
    results: RESULTS,
    what: Annotated[
        list[str] | None,
        typer.Argument(help="quantities, one panel each: upper.q tip.x torque.upper ...", show_default=False),
    ] = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help="figure; RESULTS' name with .png")] = None,
    trajectory: Annotated[bool, typer.Option("--trajectory", help="draw the arm and the way of its tip")] = False,
    times: Annotated[list[float], typer.Option("--time", help="draw the arm then (s; repeatable)")] = [],  # noqa: B006
    magnify: MAGNIFY = 1.0,
    other: OTHER = None,
) -> None:
    """Draw the results of a run, or the way of its tip."""
    from flexarm.motion.run import Run

    picture = _picture("--output", results.with_suffix(".png").name if output is None else output)
    found, beside = Run.load(results), None if other is None else Run.load(other)
    if trajectory or times:
        if what:
            raise ValueError(f"{what[0]}: quantities and --trajectory are two figures; ask for one of them")
        _draw(found.plot_trajectory(times or 5, other=beside, magnify=magnify), picture)
    else:
        _draw(found.plot(*(what or ()), other=beside), picture)
    print(f"figure in {picture}")


@app.command()
def animate(
    results: RESULTS,
    film: Annotated[str, typer.Argument(help=".gif, .mp4 or .html", show_default=False)],
    fps: Annotated[float, typer.Option(help="frames a second")] = 25.0,
    speed: Annotated[float, typer.Option(help="simulated seconds for each second of the film")] = 1.0,
    magnify: MAGNIFY = 1.0,
    other: OTHER = None,
) -> None:
    """Make a film of the moving arm from the results of a run."""
    from flexarm.motion.run import Run

    target = _film("animate", film)
    beside = None if other is None else Run.load(other)
    Run.load(results).animate(target, fps=fps, speed=speed, magnify=magnify, other=beside)
    print(f"film in {target}")


@app.command()
def paper(
    name: Annotated[str | None, typer.Argument(help="a study, or all; lists them unless given")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="folder of the pages; made if need be")] = Path(
        "papers"
    ),
) -> None:
    """Compute a paper's numerical examples anew: a page, figures and data."""
    from flexarm.papers.progress import Steps
    from flexarm.papers.study import studies, study, write_index

    if name is None:
        for each in studies():
            print(f"{each.name:<8} {each.paper} ({each.covers})")
        print("flexarm paper NAME runs one of them, flexarm paper all runs all")
        return
    chosen = studies() if name == "all" else [study(name)]
    if output.exists() and not output.is_dir():
        raise ValueError(f"--output {output}: is a file, not a folder")
    with Steps(sum(len(each.sections) for each in chosen)) as steps:
        pages = [each.run(output, steps) for each in chosen]
    if name == "all":
        pages.insert(0, write_index(output, chosen))
    print("pages in " + ", ".join(map(str, pages)))


@app.command()
def schema() -> None:
    """Print the JSON Schema of robot files."""
    import flexarm

    print(json.dumps(flexarm.schema(), indent=2))


FORMATS = {"text": ".txt", "latex": ".tex", "python": ".py", "c": ".c", "matlab": ".m"}


def _format(form: str | None, output: str | None) -> str:
    """The format of equations, asked for or by the ending of the file."""
    if form is None:
        endings = {ending: name for name, ending in FORMATS.items()}
        if output is None:
            return "text"
        if (ending := Path(output).suffix) not in endings:
            raise ValueError(f"--output {output}: must end in one of {', '.join(endings)}, or say --format")
        return endings[ending]
    if form not in FORMATS:
        raise ValueError(f"--format {form}: must be one of {', '.join(FORMATS)}")
    return form


def _writable(option: str, name: str) -> Path:
    """A file to write, checked before any work."""
    path = Path(name)
    if not name or path.is_dir():
        raise ValueError(f"{option} {name or repr(name)}: must be a file, not a directory")
    if not path.parent.is_dir():
        raise ValueError(f"{option} {name}: there is no folder '{path.parent}'")
    return path


def _results(option: str, name: str) -> Path:
    """The file for the results, checked before any work."""
    path = Path(name)
    if path.suffix != ".nc":
        raise ValueError(f"{option} {name}: must end in .nc")
    if not path.parent.is_dir():
        raise ValueError(f"{option} {name}: there is no folder {path.parent}")
    return path


def _of_rigid(options: dict[str, Any], twin: Any) -> dict[str, Any]:
    """The same simulation for the rigid twin: initial values of what it does not have are left out."""
    import flexarm

    names = flexarm.System(twin, native=False).names
    out = dict(options)
    for field in ("q0", "v0"):
        if isinstance(out.get(field), dict):
            out[field] = {name: value for name, value in out[field].items() if name in names}
    return out


def _assignments(option: str, words: list[str]) -> dict[str, Any]:
    """`name=value` words; values are read as YAML, so numbers, lists and names all work."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    out = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise ValueError(f"{option} {word}: must look like name=value")
        try:
            out[name] = YAML(typ="safe").load(value)
        except YAMLError:
            raise ValueError(f"{option} {word}: '{value}' cannot be read as a value") from None
    return out


def _picture(option: str, name: str) -> Path:
    """Where a picture goes, checked before any work is done for it."""
    path = Path(name)
    if path.suffix.lower() not in PICTURES:
        raise ValueError(f"{option} {name or repr(name)}: must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}")
    if path.is_dir():
        raise ValueError(f"{option} {name}: is a directory, not a file")
    if not path.parent.is_dir():
        raise ValueError(f"{option} {name}: there is no folder '{path.parent}'")
    return path


def _draw(figure: Any, picture: Path) -> None:
    from flexarm.foundation.files import atomically

    atomically(picture, lambda part: figure.savefig(part, dpi=150))


def _film(option: str, name: str) -> Path:
    """Where a film goes, checked before any work is done for it."""
    from flexarm.show.films import kind_of

    try:
        kind_of(name)
    except (ValueError, OSError) as error:
        raise ValueError(f"{option} {error}") from None
    return Path(name)


def _holds(joints: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in joints.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise ValueError(f"--joints {joints}: must be free, locked, or link=free|locked separated by commas")
    return {name.strip(): hold.strip() for name, _, hold in pairs}


def _print_matrix(title: str, matrix: Any, names: tuple[str, ...]) -> None:
    width = max(len(name) for name in names)
    print(f"{title}, coordinates in the order of the rows:")
    for name, row in zip(names, matrix, strict=True):
        print(f"  {name:<{width}} " + " ".join(f"{entry:10.3g}" for entry in row))


def main() -> None:
    """Entry point: errors become one sentence on stderr and a non-zero exit code."""
    warnings.showwarning = lambda message, *_: print(f"warning: {message}", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console that lacks a letter shows a question mark
    try:
        code = app(standalone_mode=False)
    except UsageError as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except (ValueError, KeyError, OSError) as error:
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        sys.exit(f"error: {text}")
    except Exception as error:
        if os.environ.get("FLEXARM_DEBUG"):
            raise
        where = "run again with FLEXARM_DEBUG=1 to see where, and report it"
        sys.exit(f"error: flexarm failed where it should not ({type(error).__name__}: {error}); {where}")
    if code == INTERRUPTED:
        print("interrupted", file=sys.stderr)
    sys.exit(code)
