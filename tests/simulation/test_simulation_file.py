import inspect
import random
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import flexarm as fa
from flexarm.profiles.parse import PROFILES
from flexarm.robot.io.files import read
from flexarm.simulation.simulation_file import FIELDS, simulation_options


def test_a_file_orders_what_python_would():
    section = {
        "duration": 2,
        "torque": {"upper": {"profile": "bang-bang", "amplitude": 0.02, "switch": [1, 2]}, "fore": 0.1},
        "motion": {"base": {"profile": "cycloid", "y0": 0, "y1": 1, "t1": 1}},
        "loads": [{"link": "fore", "x": 0.2, "force": [0, 0, {"profile": "sine", "amplitude": 1, "frequency": 2}]}],
        "points": {"elbow": {"link": "upper", "x": 1.0}},
        "rtol": 1e-4,
        "q0": {"fore.q": 0.3},
    }
    found = simulation_options(section, "arm.yaml")
    assert found["torque"]["upper"](1.5) == -0.02
    assert found["torque"]["fore"](7.0) == 0.1
    assert found["motion"]["base"](5.0) == 1.0
    assert isinstance(found["loads"][0], fa.PointLoad)
    assert found["points"] == {"elbow": ("upper", 1.0)}
    assert found["rtol"] == 1e-4


POINT_TO_POINT = """\
links:
  - {name: upper, length: 1.0, mass: 1.0}
  - {name: fore, length: 1.0, mass: 1.0}
simulation:
  duration: 1.0
  motion:
    upper: {profile: %s, y0: 0.2, y1: 1.2, %s}
"""


@pytest.mark.parametrize(
    ("name", "function", "arguments"),
    [
        ("minimum-jerk", fa.minimum_jerk, {"t1": 0.8}),
        ("rest-to-rest", fa.rest_to_rest, {"t1": 0.8, "smooth": 4}),
        ("trapezoid", fa.trapezoid, {"speed": 2.0, "acceleration": 8.0}),
        ("s-curve", fa.s_curve, {"speed": 2.0, "acceleration": 8.0, "jerk": 60.0}),
    ],
)
def test_a_file_moves_from_rest_to_rest(tmp_path, name, function, arguments):
    """As Python's functions do, and the run ends where the profile says."""
    file = tmp_path / "arm.yaml"
    file.write_text(POINT_TO_POINT % (name, ", ".join(f"{key}: {value}" for key, value in arguments.items())))
    robot, section = read(file)
    options = simulation_options(section, str(file), robot=robot)
    own = function(0.2, 1.2, **arguments)
    times = np.linspace(0, 1.0, 50)
    for order in range(3):
        assert np.array_equal(options["motion"]["upper"](times, order), own(times, order))
    run = fa.simulate(robot, **options, native=False)
    assert run["upper.q"].values[-1] == pytest.approx(float(own(1.0)), abs=1e-6)
    file.write_text(POINT_TO_POINT % (name, "jolt: 3"))
    with pytest.raises(fa.DescriptionError, match=f"{name} takes y0, y1"):
        simulation_options(read(file)[1], str(file))


def test_a_file_chooses_how_constraints_are_kept():
    assert (
        simulation_options({"duration": 1, "stabilization": "projection"}, "arm.yaml")["stabilization"] == "projection"
    )
    found = simulation_options({"duration": 1, "stabilization": {"gamma": 10, "beta": 20}}, "arm.yaml")
    assert found["stabilization"] == fa.Baumgarte(10.0, 20.0)


def said(section, **options):
    with pytest.raises(fa.robot.DescriptionError) as caught:
        simulation_options(section, "arm.yaml", **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("durration", 1, "durration: unknown field; did you mean 'duration'? (allowed: duration, torque, "),
        (3, 1, "3: unknown field (allowed: duration, torque, "),
        ("duration", "long", "duration = 'long': must be a number (s), not text"),
        ("duration", -1, "duration = -1: must be positive (s)"),
        ("duration", [1], "duration = [1]: must be a number (s), not list"),
        ("dt", True, "dt = True: must be a number (s), not true or false"),
        ("rtol", float("nan"), "rtol = nan: must be a finite number"),
        ("radius", 2, "radius = 2: must be at least 0 and at most 1"),
        ("method", 3, "method = 3: unknown method (allowed: auto, esdirk, generalized-alpha"),
        ("method", "rk54", "method = 'rk54': unknown method; did you mean 'rk4'?"),
        ("stabilization", "none", "stabilization = 'none': must be projection, or a mapping with gamma and beta"),
        ("stabilization", {"gamma": -1}, "stabilization.gamma = -1: must be zero or positive (1/s)"),
        ("stabilization", {"gama": 1}, "stabilization = {'gama': 1}: must be projection, or a mapping with gamma and"),
        ("q0", "balance", "q0 = 'balance': must be equilibrium, or a mapping from coordinates to numbers"),
        ("q0", 3, "q0 = 3: must be a mapping from coordinates to numbers, or a list of numbers"),
        ("q0", [1, "x"], "q0[1] = 'x': must be a number, not text"),
        ("v0", "equilibrium", "v0 = 'equilibrium': must be a mapping from coordinates to numbers"),
        ("v0", {"upper.q": "x"}, "v0.upper.q = 'x': must be a number, not text"),
        ("v0", {3: 1}, "v0.3: is not text, but names of coordinates are"),
        ("q0", {"uper.q": 1}, "q0.uper.q: there is no such coordinate; did you mean 'upper.q'?"),
        ("torque", 3, "torque = 3: must be a mapping from links to numbers or profiles"),
        ("torque", {"uper": 3}, "torque.uper: there is no such actuator; did you mean 'upper'?"),
        ("torque", {3: 3}, "torque.3: is not text, but names of actuators are"),
        ("torque", {"upper": "x"}, "torque.upper = 'x': must be a number, not text"),
        ("torque", {"upper": {}}, "torque.upper.profile: is required (allowed: constant, bang-bang, "),
        ("torque", {"upper": {"profile": "sines"}}, "torque.upper.profile = 'sines': unknown; did you mean 'sine'?"),
        ("torque", {"upper": {"profile": []}}, "torque.upper.profile = []: unknown (allowed: constant, "),
        ("torque", {"upper": {"profile": "sine", 3: 4}}, "torque.upper: has a field whose name is not text"),
        ("torque", {"upper": {"profile": "sine", "amp": 1}}, "torque.upper: sine takes amplitude, frequency, phase"),
        (
            "motion",
            {"upper": {"profile": "sine", "amplitude": "x", "frequency": 1}},
            "motion.upper: amplitude = 'x': must be a number, not text",
        ),
        ("motion", {"upper": {"profile": "bang-bang", "amplitude": 1, "switch": 3}}, "motion.upper: switch = 3: must"),
        ("motion", {"upper": {"profile": "table"}}, "motion.upper: table takes source, column"),
        ("motion", {"upper": {"profile": "table", "source": 3}}, "motion.upper: source = 3: must be the name of a CSV"),
        (
            "motion",
            {"upper": {"profile": "table", "source": ""}},
            "motion.upper.source = '': must be the name of a file",
        ),
        ("loads", {"link": "fore"}, "loads = {'link': 'fore'}: must be a list of mappings with link, x, force and"),
        ("loads", ["fore"], "loads[0] = 'fore': must be a mapping with link"),
        ("loads", [{"x": 1}], "loads[0].link: is required"),
        ("loads", [{"link": "fore", "at": 1}], "loads[0].at: unknown field (allowed: link, x, force, torque)"),
        ("loads", [{"link": 3}], "loads[0].link = 3: must be the name of a link"),
        ("loads", [{"link": "for"}], "loads[0].link = 'for': there is no such link; did you mean 'fore'?"),
        ("loads", [{"link": "fore", "x": -1}], "loads[0].x = -1: must be zero or positive (m)"),
        ("loads", [{"link": "fore", "force": 3}], "loads[0].force = 3: must be three numbers or profiles, in world"),
        ("loads", [{"link": "fore", "force": [0, 0]}], "loads[0].force = [0, 0]: must be three numbers or profiles"),
        ("loads", [{"link": "fore", "torque": [0, 0, "x"]}], "loads[0].torque[2] = 'x': must be a number, not text"),
        ("points", ["tip"], "points = ['tip']: must be a mapping from names to link and x"),
        ("points", {"p": 3}, "points.p = 3: must be a mapping with link and x"),
        ("points", {"p": {"link": "fore"}}, "points.p.x: is required"),
        ("points", {"p": {"link": "fore", "x": "end"}}, "points.p.x = 'end': must be a number (m), not text"),
        ("points", {3: {"link": "fore", "x": 0}}, "points.3: is not text, but names of points are"),
    ],
)
def test_mistakes_in_a_file_are_sentences(field, value, sentence):
    found = said({"duration": 1, field: value}, robot=fa.library.two_link_arm())
    assert found.startswith(f"arm.yaml: simulation.{sentence}")
    assert len(found.splitlines()) == 1


def test_everything_that_is_wrong_is_told_at_once():
    assert said({"points": {"p": {}}, "dt": 0}).splitlines() == [
        "arm.yaml: simulation.points.p.link: is required",
        "arm.yaml: simulation.points.p.x: is required",
        "arm.yaml: simulation.dt = 0: must be positive (s)",
        "arm.yaml: simulation.duration: is required (s); give it in the file or with --duration",
    ]


ANYTHING = [None, True, 3, -1.5, float("nan"), 10**400, "x", "", [], [1], ["x"], [[]], {}, {"a": 1}, {3: None}]
ANYTHING += [{"link": "upper"}, {"profile": "sine"}, [1.0, "x", None]]


def refusal(section):
    try:
        simulation_options(section, "arm.yaml")
    except fa.robot.DescriptionError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("value", ANYTHING, ids=lambda value: repr(value)[:20])
def test_whatever_stands_in_a_section_is_taken_or_refused_in_a_sentence(value):
    inside = [{"upper": value}, {"upper": {"profile": value}}, [value], [{"link": "upper", "force": value}]]
    inside += [[{"link": "upper", "torque": [0, 0, value]}], {"p": {"link": "upper", "x": value}}]
    sections = [(field, given) for field in FIELDS for given in (value, *inside)]
    for name, function in PROFILES.items():
        arguments = dict.fromkeys(inspect.signature(function).parameters, 1.0)
        for argument in arguments:
            sections.append(("torque", {"upper": {"profile": name, argument: value}}))
            sections.append(("motion", {"upper": {"profile": name, **arguments, argument: value}}))
    for field, given in sections:
        said = refusal({"duration": 1, field: given})
        assert not said or said.startswith(f"arm.yaml: simulation.{field}")


def test_empty_fields_are_as_good_as_none():
    assert simulation_options({"duration": 1, "q0": None, "torque": None, "dt": None}, "arm.yaml") == {"duration": 1}


FILE = """\
links:
  - {name: upper, length: 1.0, mass: 1.0}
simulation:
  duration: long
  torque:
    upper:
      profile: sinus
  loads:
    - link: upper
    - upper
  v0:
    upper.q: 1.0
    upper.w: 2.0
"""


def test_mistakes_are_told_with_their_lines_unless_the_command_line_made_them(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(FILE)
    robot, section = fa.robot.io.files.read(file)

    def lines(section):
        with pytest.raises(fa.robot.DescriptionError) as caught:
            simulation_options(section, str(file), robot=robot)
        return [(problem.path, problem.line) for problem in caught.value.problems]

    rest = [("simulation.torque.upper.profile", 7), ("simulation.loads[1]", 10), ("simulation.v0.upper.w", 13)]
    assert lines(section) == [("simulation.duration", 4), *rest]
    assert lines(section | {"duration": "short"}) == [("simulation.duration", None), *rest]
    assert lines(section | {"dt": 0}) == [("simulation.duration", 4), *rest, ("simulation.dt", None)]


def test_tables_lie_beside_the_robot_file(tmp_path, monkeypatch):
    folder, other = tmp_path / "model", tmp_path / "other"
    for place in (folder / "data", other):
        place.mkdir(parents=True)
    (folder / "data" / "torque.csv").write_text("t,upper\n0,1\n1,1\n")
    (other / "secret.csv").write_text("t,upper\n0,2\n1,2\n")
    (folder / "link.csv").symlink_to(other / "secret.csv")
    monkeypatch.chdir(other)

    def torque(source, **options):
        section = {"duration": 1, "torque": {"upper": {"profile": "table", "source": source}}}
        return simulation_options(section, str(folder / "arm.yaml"), **options)["torque"]["upper"](0.5)

    assert torque("data/torque.csv") == 1.0
    assert torque("data/../data/torque.csv") == 1.0
    for source in ("../other/secret.csv", str(other / "secret.csv"), "link.csv", "/etc/passwd", "/dev/zero"):
        with pytest.raises(
            fa.robot.DescriptionError, match="lies outside the robot file's folder, which only flexarm run"
        ):
            torque(source)
    for source in ("../other/secret.csv", str(other / "secret.csv"), "link.csv"):
        assert torque(source, outside=True) == 2.0
    with pytest.raises(fa.robot.DescriptionError, match=r"simulation\.torque\.upper: .*no\.csv: there is no such file"):
        torque("no.csv")
    with pytest.raises(fa.robot.DescriptionError, match="is a pipe, a device or the like, not a file"):
        torque("/dev/zero", outside=True)


@pytest.mark.parametrize("field", ["q0", "v0"])
def test_a_list_of_coordinates_has_one_for_each(field, tmp_path):
    file = tmp_path / "arm.yaml"
    text = (EXAMPLES / "two_link.yaml").read_text()
    file.write_text(text.replace("simulation:\n", f"simulation:\n  {field}: [1, 2]\n"))
    robot, section = read(file)
    words = rf"arm\.yaml:19.*{field} = \[1, 2\]: has 2 numbers: give one for each of upper\.q, "
    with pytest.raises(fa.DescriptionError, match=words):
        simulation_options(section, str(file), robot=robot)


EXAMPLES = Path(__file__).parents[2] / "examples"
REPLACEMENTS = ("[]", "{}", "null", "text", "-1", "1e400", "true", "[1, 2]", "nan", "''")


def damaged(lines: list[str], seed: int) -> Iterator[list[str]]:
    """Yield copies of a file with one line deleted, doubled, cut, indented, of another type or with a typing error."""
    draw = random.Random(seed)
    for k, line in enumerate(lines):
        before, after = lines[:k], lines[k + 1 :]
        yield before + after
        yield [*before, line, line, *after]
        yield [*before, line[: len(line) // 2]]
        yield [*before, " " + line, *after]
        yield [*before, re.sub(r"(\w+):", r"\1x:", line, count=1), *after]
        if field := re.match(r"\s*(?:- )?[\w.]+:", line):
            yield from ([*before, f"{field[0]} {new}", *after] for new in REPLACEMENTS)
        if line:
            place = draw.randrange(len(line))
            yield [*before, line[:place] + draw.choice("{}[]:,'\"&*!%@\t#-x9") + line[place + 1 :], *after]


def refusal_of(file: Path) -> str | None:
    """Return the message with which a robot file is refused, or None."""
    try:
        robot, section = read(file)
        simulation_options(section, str(file), robot=robot)
    except fa.DescriptionError as error:
        return str(error)
    return None


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.name)
def test_messages_about_damaged_files_carry_file_and_line(example, tmp_path):
    file, refused = tmp_path / "damaged.yaml", 0
    for lines in damaged(example.read_text().splitlines(), seed=1):
        file.write_text("\n".join(lines) + "\n")
        message = refusal_of(file)
        refused += message is not None
        assert message is None or re.search(r"damaged\.yaml:\d+", message), (message, lines)
    assert refused > 100


def test_a_file_names_frames_without_x():
    robot = fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)], frames=[fa.Frame("tool", "rod", position=(0, 0, 0.1))])
    section = {"duration": 1, "loads": [{"link": "tool"}], "points": {"camera": {"link": "tool"}}}
    found = simulation_options(section, "arm.yaml", robot=robot)
    assert found["points"] == {"camera": ("tool", None)}
    assert found["loads"][0].link == "tool"
    with pytest.raises(fa.DescriptionError, match=r"loads\[0\].link = 'tol': there is no such link; did you"):
        simulation_options({"duration": 1, "loads": [{"link": "tol"}]}, "arm.yaml", robot=robot)
