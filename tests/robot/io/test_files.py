"""Robots in files: round trips, and every way a file can be wrong."""

import multiprocessing
import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import flexarm.robot as fa
from flexarm.robot import library
from flexarm.robot.io import files

ARM = """\
name: two-link flexible arm
gravity: [0, 0, 0]
links:
  - name: upper
    joint: {type: revolute, axis: z}
    length: 1.0
    section: {shape: rectangle, width: 0.005, height: 0.005}
    material: {E: 2e10, rho: 7850}
    flexible: {bend_y: 3}
  - name: fore
    joint: {type: revolute, axis: z}
    length: 0.5
    section: {shape: rectangle, width: 0.005, height: 0.005}
    material: {E: 2e10, rho: 7850}
    flexible: {bend_y: 3}
    payload: {mass: 0.15}
simulation:
  duration: 10
  torque:
    upper: {profile: bang-bang, amplitude: 0.02, switch: [1, 2]}
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Write a text to arm.yaml in the current directory."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        Path("arm.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return "arm.yaml"

    return write


def message(path):
    with pytest.raises(fa.DescriptionError) as caught:
        fa.load(path)
    assert "pydantic" not in str(caught.value)
    return str(caught.value)


def test_a_file_describes_the_two_link_arm(file):
    robot, simulation = files.read(file(ARM))
    assert robot == library.two_link_arm()
    assert simulation == {
        "duration": 10,
        "torque": {"upper": {"profile": "bang-bang", "amplitude": 0.02, "switch": [1, 2]}},
    }
    assert type(simulation) is dict
    assert type(simulation["torque"]["upper"]["amplitude"]) is float


def test_without_a_simulation_there_is_an_empty_one(file):
    assert files.read(file("links: [{name: a, length: 1}]"))[1] == {}
    assert files.read(file("links: [{name: a, length: 1}]\nsimulation:"))[1] == {}


def test_saved_files_are_short_and_readable(tmp_path):
    library.two_link_arm().save(tmp_path / "arm.yaml")
    assert (tmp_path / "arm.yaml").read_text() == (
        "name: two-link flexible arm\n"
        "links:\n"
        "  - name: upper\n"
        "    length: 1.0\n"
        "    section: {shape: rectangle, width: 0.005, height: 0.005}\n"
        "    material: {E: 2e10, rho: 7850.0}\n"
        "    flexible: {bend_y: 3}\n"
        "  - name: fore\n"
        "    length: 0.5\n"
        "    section: {shape: rectangle, width: 0.005, height: 0.005}\n"
        "    material: {E: 2e10, rho: 7850.0}\n"
        "    flexible: {bend_y: 3}\n"
        "    payload: {mass: 0.15}\n"
    )


def test_saving_leaves_nothing_else_behind(tmp_path, monkeypatch):
    path = tmp_path / "arm.yaml"
    fa.save(library.rrr_arm(True), path)
    before = path.read_text()
    monkeypatch.setattr(files, "plain_data", lambda robot: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fa.save(library.two_link_arm(), path)
    assert path.read_text() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["arm.yaml"]


def test_many_threads_may_save_and_load_one_file(tmp_path):
    path, arms = tmp_path / "arm.yaml", [library.two_link_arm(), library.rrr_arm(True)]
    arms[0].save(path)

    def work(k):
        arms[k % 2].save(path)
        return fa.load(path) in arms

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(24)))
    assert [entry.name for entry in tmp_path.iterdir()] == ["arm.yaml"]


def save_and_load(path):
    library.two_link_arm().save(path)
    return fa.load(path) == library.two_link_arm()


def test_many_processes_may_save_and_load_one_file(tmp_path):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert all(pool.map(save_and_load, [tmp_path / "arm.yaml"] * 12, chunksize=1))
    assert [entry.name for entry in tmp_path.iterdir()] == ["arm.yaml"]


@pytest.mark.skipif(os.name == "nt", reason="links as POSIX has them")
def test_a_link_at_the_place_is_replaced_not_followed(tmp_path):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "arm.yaml").symlink_to("victim")
    library.two_link_arm().save(tmp_path / "arm.yaml")
    assert (tmp_path / "victim").read_text() == "precious"
    assert fa.load(tmp_path / "arm.yaml") == library.two_link_arm()


# --- round trips over random robots ---

size = st.floats(1e-3, 1e2, allow_nan=False).map(lambda x: float(f"{x:.12g}"))
anything = st.floats(-1e6, 1e6, allow_nan=False)
vector = st.tuples(anything, anything, anything)
small_angles = st.tuples(*[st.floats(-3, 3)] * 3)
plain_sections = st.one_of(
    st.builds(fa.Section.rectangle, size, size),
    st.builds(fa.Section.circle, size),
    st.builds(lambda a, b: fa.Section.tube(a + b, a), size, size),
    st.builds(lambda t, b, h: fa.Section.box(2 * t + b, 2 * t + h, t), size, size, size),
    st.builds(fa.Section.properties, size, size, size, st.none() | size, st.none() | size),
)
sections = st.one_of(
    plain_sections,
    st.builds(fa.Section.tapered, st.builds(fa.Section.circle, size), st.builds(fa.Section.circle, size)),
    st.builds(
        lambda a, b, upto: fa.Section.stepped([{"upto": upto, "section": a}, {"upto": 1, "section": b}]),
        plain_sections,
        plain_sections,
        st.floats(0.01, 0.99),
    ),
)
materials = st.one_of(
    st.builds(fa.Material, st.floats(1e6, 1e13), st.floats(20, 2e4), st.none() | size, damping=size),
    st.builds(fa.Material, st.floats(1e6, 1e13), st.floats(20, 2e4), nu=st.floats(-0.9, 0.5)),
)
drives = st.builds(fa.Drive, stiffness=st.none() | size, rotor_inertia=size, gear_ratio=size)
joints = st.one_of(
    st.builds(fa.Weld, small_angles),
    st.builds(
        fa.Revolute,
        st.sampled_from(["x", "-y", "z"]) | st.tuples(size, anything, anything),
        st.just([[0, -1, 0], [1, 0, 0], [0, 0, 1]]) | small_angles,
        st.none() | st.tuples(st.floats(-3, -1), st.floats(0, 3)),
        viscous=size,
        drive=st.none() | drives,
    ),
)
bases = st.one_of(
    st.just("modes"),
    st.builds(fa.Modes, tip_mass=size),
    st.builds(fa.Elements, order=st.integers(1, 2)),
    st.builds(fa.Reduced, st.integers(10, 20), st.none() | st.integers(5, 8), st.sampled_from(["free", "fixed"])),
)
dampings = st.builds(fa.Damping, st.none() | size | st.lists(size, min_size=1, max_size=5), size, size)
count = st.sampled_from([0, 2, 3, 5])  # never fewer elements than a stepped section has pieces
flexibles = st.builds(
    fa.Flexible,
    st.integers(5, 9),  # as many shapes as there are damping ratios, or more
    count,
    count,
    count,
    basis=bases,
    stiffening=st.sampled_from(["auto", "none", "shortening"]),
    damping=st.none() | dampings,
)
inertias = st.none() | size | st.tuples(size, size, size)
lumps = st.builds(fa.PointMass, size, vector, inertias)
names = st.lists(
    st.from_regex(r"[\w-]{1,8}", fullmatch=True).filter(lambda name: name != "ground"),
    min_size=1,
    max_size=4,
    unique=True,
)


@st.composite
def robots(draw):
    links = []
    for index, name in enumerate(draw(names)):
        links.append(
            fa.Link(
                name,
                draw(size),
                draw(joints),
                draw(sections),
                draw(materials),
                draw(st.none() | flexibles),
                draw(st.none() | size),
                hub=draw(st.none() | lumps),
                payload=draw(st.none() | lumps),
                masses=[lump.model_copy(update={"at": 1e-4}) for lump in draw(st.lists(lumps, max_size=2))],
                rotary_inertia=draw(st.booleans()),
                parent=draw(st.sampled_from([None, "ground", *(link.name for link in links)])),
                at=None,
                offset=draw(vector),
            )
        )
        if index and draw(st.booleans()) and links[-1].parent != "ground":
            links[-1] = links[-1].model_copy(update={"at": 1e-4})
    title = draw(st.text(st.characters(codec="utf-8"), min_size=1).filter(str.isprintable))
    return fa.Robot(title, links=links, gravity=draw(vector), base=fa.Pose(draw(vector), draw(small_angles)))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(robots())
@pytest.mark.filterwarnings("ignore::flexarm.robot.UnitsWarning")
def test_a_saved_robot_loads_as_itself(tmp_path_factory, robot):
    path = tmp_path_factory.getbasetemp() / "round_trip.yaml"
    fa.save(robot, path)
    again = fa.load(path)
    assert again == robot
    assert hash(again) == hash(robot)
    assert robot.with_() == robot
    assert eval(repr(robot), dict(vars(fa), **vars(fa.sections))) == robot
    str(robot)


@pytest.mark.parametrize("robot", [library.rrr_arm(True), library.rotating_beam(), library.tokhi_azad_arm(0.1)])
def test_the_library_survives_a_round_trip(robot, tmp_path):
    robot.save(tmp_path / "arm.yaml")
    assert fa.load(tmp_path / "arm.yaml") == robot


# --- wrong files ---


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("width: 0.005", "width: -0.005", "arm.yaml:7: links[0].section.width = -0.005: must be positive (m)"),
        ("length: 0.5", "length: half", "arm.yaml:12: links[1].length = 'half': must be a number (m), not text"),
        ("length: 0.5", "length: .nan", "arm.yaml:12: links[1].length = nan: must be a finite number (m)"),
        ("length: 0.5", "length: true", "arm.yaml:12: links[1].length = True: must be a number (m), not true or false"),
        ("    length: 0.5\n", "", "arm.yaml:10: links[1].length: is required"),
        (
            "payload: {mass",
            "payload: {mas",
            "arm.yaml:16: links[1].payload.mass: is required\n"
            "arm.yaml:16: links[1].payload.mas: unknown field; did you mean 'mass'? "
            "(allowed: mass, offset, inertia, at)",
        ),
        (
            "joint: {type: revolute, axis: z}\n    length: 0.5",
            "joint:\n      type: revolut\n    length: 0.5",
            "arm.yaml:12: links[1].joint.type = 'revolut': unknown; did you mean 'revolute'? "
            "(allowed: revolute, prismatic, screw, universal, cylindrical, planar, sliding-prismatic, fixed-prismatic, "
            "sleeve, weld)",
        ),
        ("name: fore", "name: upper", "arm.yaml:10: links[1].name = 'upper': is already the name of links[0]"),
        ("gravity: [0, 0, 0]", "gravity: [0, 0]", "arm.yaml:2: gravity = [0, 0]: must be 3 finite numbers (m/s2)"),
        (
            "gravity:",
            "gravty:",
            "arm.yaml:2: gravty: unknown field; did you mean 'gravity'? "
            "(allowed: name, links, gravity, base, constraints, simulation, sweep)",
        ),
        (
            "name: fore",
            "1: fore",
            "arm.yaml:10: links[1].name: is required\narm.yaml:10: links[1].1: is not text, but names of fields are",
        ),
    ],
)
def test_wrong_fields(file, old, new, expected):
    assert old in ARM
    head, _, tail = ARM.partition(old)
    assert message(file(head + new + tail)) == expected


def test_keys_that_are_not_text_are_found_on_their_line(file):
    output = message(file(ARM.replace("    payload: {mass: 0.15}\n", "    payload: {mass: 0.15}\n    3: x\n")))
    assert output == "arm.yaml:17: links[1].3: is not text, but names of fields are"
    assert message(file(ARM + "7: x\n")) == "arm.yaml:21: 7: is not text, but names of fields are"


def test_problems_of_robot_and_simulation_are_listed_together(file):
    text = message(file("links: [{name: a, length: 0}]\nsimulation: fast\n"))
    assert (
        text
        == "arm.yaml:1: links[0].length = 0: must be positive (m)\narm.yaml:2: simulation = 'fast': must be a mapping"
    )


def test_problems_carry_their_lines(file):
    with pytest.raises(fa.DescriptionError) as caught:
        fa.load(file("links:\n- name: a\n  length: 0\n- name: b\n"))
    assert [(p.path, p.line) for p in caught.value.problems] == [("links[0].length", 3), ("links[1].length", 4)]


@pytest.mark.parametrize(
    ("text", "start", "words"),
    [
        ("name: [1, 2\nlinks: 3\n", "arm.yaml:2:6: ", "is not valid YAML: while parsing a flow sequence"),
        ("name: a\n\tlinks: 3\n", "arm.yaml:2:1: ", "is not valid YAML"),
        ("name: a\nname: b\n", "arm.yaml:2:1: ", "the key 'name' stands twice in one mapping"),
        ("links: *missing\n", "arm.yaml:1:8: ", "undefined alias"),
        ("name: a\x00b", "arm.yaml:1: ", "is not valid YAML"),
        ("name: a\n# one\nlinks: \x07\n", "arm.yaml:3: ", "is not valid YAML"),
        (b"name: a\nlinks: \xff\n", "arm.yaml:2: ", "is not UTF-8 text (byte 0xff)"),
        ("", "arm.yaml:1: ", "the file is empty; a robot needs at least `links`"),
        ("# nothing\n", "arm.yaml:1: ", "the file is empty"),
        ("- a\n", "arm.yaml:1: ", "a robot file is a mapping (name, links, ...), but this is a list"),
        ("42\n", "arm.yaml:1: ", "but this is only 42"),
        ("links: []\n", "arm.yaml:1: ", "links = (): must have at least one link"),
        ("name: a\n", "arm.yaml:1: ", "links: is required"),
        ("links: &a [*a]\n", "arm.yaml:1: ", "must be Link, or a mapping with its fields"),
    ],
)
def test_wrong_files(file, text, start, words):
    output = message(file(text))
    assert output.startswith(start)
    assert words in output
    assert len(output.splitlines()) == 1


ALIASES = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join(9 * ['*' + old])}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (ALIASES + "links: *i\n", "arm.yaml:5: holds more than 50000 values"),
        ("links: " + "[" * 500 + "]" * 500, "arm.yaml:1: is nested more than 50 deep"),
        ("".join(" " * k + "a:\n" for k in range(500)), "arm.yaml:50: is nested more than 50 deep"),
        (f"links:\n- length: {'1' * 5000}\n", "arm.yaml:2: has a whole number of more than 400 digits"),
        (f"links: [{'a,' * 60_000}]", "arm.yaml:1: holds more than 50000 values"),
        ("a" * 1_000_001, "arm.yaml: is larger than 1 MB, which is the most that is read"),
        (
            "links:\n" + "".join(f"- {{name: l{k}, length: 1}}\n" for k in range(201)),
            "arm.yaml:1: links: there are 201, but a robot has at most 200",
        ),
        (
            "links: [{name: a, length: 1}]\nconstraints: [" + "{type: on-line, link: a, point: [0, 0, 0]}," * 201 + "]",
            "arm.yaml:2: constraints: there are 201, but a robot has at most 200",
        ),
        ("links: 2020-99-99", "arm.yaml:1:8: is not valid YAML: this is not a valid timestamp"),
        ("name: a\nlinks: !!int abc", "arm.yaml:2:8: is not valid YAML: this is not a valid int"),
        ("links: &a\n  <<: *a", "arm.yaml:1:8: is not valid YAML: this is not a valid map"),
    ],
)
def test_files_beyond_the_limits_are_refused_in_one_line(file, text, sentence):
    assert message(file(text)) == sentence


def test_a_message_lists_the_first_problems_and_the_number_of_others(file):
    output = message(
        file("links: [{name: a, length: 1}]\n" + "".join(f"k{k}: 1\n" for k in range(20_000)))
    ).splitlines()
    assert len(output) == 21
    assert output[19].startswith("arm.yaml:21: k19: unknown field")
    assert output[20] == "arm.yaml: and 19980 more problems"


@pytest.mark.parametrize(
    "text",
    [
        ALIASES[: ALIASES.index("e:")] + "links: *d\n",
        f"links: [{{name: a, length: {'x' * 10_000}}}]",
        f"{'k' * 1000}: 1\nlinks: [{{name: a, length: {[[['x' * 99] * 99] * 9] * 9}}}]",
        "links:\n" + "".join(f"- {{name: link-number-{k}, length: 1, parent: none}}\n" for k in range(300)),
    ],
)
def test_messages_are_short_whatever_the_file(file, text):
    output = message(file(text)).splitlines()
    assert len(output) <= 21
    assert max(map(len, output)) < 1100


def test_letters_that_a_terminal_obeys_are_spelled_out(file):
    output = message(file('"a\\e[31m\\nb": 1\nlinks: [{name: a, length: 1}]'))
    assert output.startswith("arm.yaml:1: a\\x1b[31m\\nb: unknown field")


def test_many_warnings_are_raised_once(file):
    links = "".join(f"- {{name: l{k}, length: 1, mass: 1, material: {{E: 200, rho: 7850}}}}\n" for k in range(50))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fa.load(file("links:\n" + links))
    assert len(caught) == 21
    assert str(caught[-1].message) == "arm.yaml: 30 more values look as if they were in another unit"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system here")
def test_pipes_and_devices_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        assert message(path) == f"{path}: is a pipe, a device or the like, not a file"


def test_missing_files_and_directories(tmp_path):
    assert message(tmp_path / "no.yaml") == f"{tmp_path}/no.yaml: there is no such file"
    assert message(tmp_path) == f"{tmp_path}: is a directory, not a file"
    assert message("") == "'': is no path: give the name of a file"
    assert message("a\0b") == "'a\\x00b': is no path: give the name of a file"
    assert message(3) == "path = 3: must be the name of a file"


def test_places_that_cannot_be_written_are_named_as_the_user_did(tmp_path):
    (tmp_path / "file").write_text("")
    for path, sentence in (
        ("", "'': is no path: give the name of a file"),
        (tmp_path, f"{tmp_path}: is a directory, not a file"),
        (tmp_path / "no" / "a.yaml", f"{tmp_path}/no/a.yaml: there is no folder '{tmp_path}/no'"),
        (tmp_path / "file" / "a.yaml", f"{tmp_path}/file/a.yaml: there is no folder '{tmp_path}/file'"),
        (tmp_path / ("a" * 300), f"{tmp_path}/{'a' * 300}: cannot be written: File name too long"),
    ):
        with pytest.raises(fa.DescriptionError) as caught:
            library.two_link_arm().save(path)
        assert str(caught.value) == sentence


def test_anchors_and_byte_order_marks_are_understood(file):
    text = "\ufeffsteel: 1\n"
    assert "steel: unknown field" in message(file(text + "links: [{name: a, length: 1}]"))
    shared = "links:\n- {name: a, length: 1, payload: &p {mass: 2}}\n- {name: b, length: 1, payload: *p}\n"
    robot = fa.load(file(shared))
    assert robot.links[0].payload == robot.links[1].payload == fa.PointMass(2)


def test_warnings_have_the_line_and_are_raised_once(file):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fa.load(file(ARM.replace("E: 2e10", "E: 200", 1)))
    (warning,) = caught
    assert str(warning.message) == "arm.yaml:8: links[0].material.E = 200: looks like GPa; E is in Pa (steel 2.1e11)"
    assert warning.category is fa.UnitsWarning
    assert warning.filename == __file__


# --- schema ---


def fields_of_schema():
    schema = fa.schema()
    for owner, model in {"Robot": schema, **schema["$defs"]}.items():
        for name, field in model["properties"].items():
            yield pytest.param(field, id=f"{owner}.{name}")


@pytest.mark.parametrize("field", list(fields_of_schema()))
def test_every_field_is_described(field):
    assert field["description"]


def test_schema_has_units_bounds_and_shorthands():
    schema = fa.schema()
    assert schema["title"] == "flexarm robot"
    assert schema["required"] == ["links"]
    assert schema["properties"]["simulation"]["type"] == "object"
    assert schema["properties"]["simulation"]["description"] == "what to compute with the robot; not part of it"
    link = schema["$defs"]["Link"]
    length = link["properties"]["length"]
    assert (length["type"], length["unit"], length["exclusiveMinimum"]) == ("number", "m", 0)
    assert link["additionalProperties"] is False
    kinds = ["revolute", "prismatic", "universal", "cylindrical", "planar", "sliding-prismatic", "fixed-prismatic"]
    assert {"enum": [*kinds, "sleeve", "weld"]} in link["properties"]["joint"]["anyOf"]
    assert schema["$defs"]["Weld"]["required"] == ["type"]
    assert schema["$defs"]["Circle"]["required"] == ["shape", "diameter"]
    damping = schema["$defs"]["Material"]["properties"]["damping"]
    assert (damping["unit"], damping["minimum"]) == ("s", 0)
    assert schema["$defs"]["Flexible"]["properties"]["bend_y"]["type"] == "integer"
