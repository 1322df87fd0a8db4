"""Common properties of descriptions: arguments, freezing, comparison, paths of errors, warnings about units."""

import copy
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import flexarm.robot as fa
from flexarm.robot.library import rrr_arm, two_link_arm
from flexarm.robot.sections import Rectangle

KINDS = "revolute, prismatic, screw, universal, cylindrical, planar, sliding-prismatic, fixed-prismatic, sleeve, weld"
JOINTS = (
    "Revolute or Prismatic or Screw or Universal or Cylindrical or Planar or SlidingPrismatic or FixedPrismatic or "
    "Sleeve or Weld"
)


def message(build, *args, **fields):
    with pytest.raises(fa.DescriptionError) as caught:
        build(*args, **fields)
    assert "pydantic" not in str(caught.value).lower()
    return str(caught.value)


def test_positional_arguments_fill_fields_in_order_and_skip_the_tag():
    assert fa.Revolute("y") == fa.Revolute(axis="y")
    assert Rectangle(1, 2) == Rectangle(width=1, height=2)
    assert fa.Reduced(8, 3) == fa.Reduced(elements=8, modes=3)


def test_too_many_or_repeated_arguments_are_type_errors():
    with pytest.raises(TypeError, match="PointMass takes at most 4 arguments, but 5 were given"):
        fa.PointMass(1, (0, 0, 0), None, None, 5)
    with pytest.raises(TypeError, match="got 'mass' twice"):
        fa.PointMass(1, mass=2)


def test_descriptions_compare_hash_copy_and_pickle():
    arm, twin = two_link_arm(), two_link_arm()
    assert arm == twin
    assert hash(arm) == hash(twin)
    assert arm != two_link_arm(damping=1e-3)
    assert pickle.loads(pickle.dumps(rrr_arm(True))) == rrr_arm(True)
    assert copy.deepcopy(arm) == arm


def test_descriptions_do_not_change():
    with pytest.raises(AttributeError, match=r"Material\.E cannot be set") as caught:
        fa.Material(2e11, 7850).E = 1.0
    assert "pydantic" not in str(caught.value)
    with pytest.raises(AttributeError, match=r"Material\.E cannot be removed"):
        del fa.Material(2e11, 7850).E


def test_repr_leaves_defaults_out():
    assert repr(fa.Revolute("y", viscous=0.1)) == "Revolute(axis='y', viscous=0.1)"


def test_errors_pickle_with_their_problems():
    with pytest.raises(fa.DescriptionError) as caught:
        fa.Material(-1, 7850)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.problems == caught.value.problems


def test_problems_hold_path_value_and_sentence():
    with pytest.raises(fa.DescriptionError) as caught:
        fa.Link("a", 1.0, section={"shape": "rectangle", "width": -0.005, "height": 0.01}, mass=1)
    (problem,) = caught.value.problems
    assert (problem.path, problem.value, problem.line) == ("section.width", -0.005, None)
    assert problem.sentence == "must be positive (m)"


def test_all_problems_are_listed_at_once():
    text = message(fa.Link, "a.b", lenght=1, joint=5, rotary_inertia=1, masses=3)
    lines = text.splitlines()
    assert "name = 'a.b': must be a name of letters, digits, _ and -" in lines
    assert "length: is required" in lines
    assert f"joint = 5: must be {JOINTS}, or a mapping with its fields" in lines
    assert "rotary_inertia = 1: must be true or false" in lines
    assert "masses = 3: must be a list of PointMass" in lines
    assert any(
        line.startswith("lenght: unknown field; did you mean 'length'? (allowed: name, length") for line in lines
    )
    assert len(lines) == 6


def test_tags_of_unions_stay_out_of_paths_even_when_they_are_field_names():
    flexible = {"bend_y": 1, "basis": {"type": "reduced", "elements": 0, "modes": 0}}
    link = {"name": "a", "length": 1, "flexible": flexible}
    assert message(fa.Robot, links=[link]).splitlines() == [
        "links[0].flexible.basis.elements = 0: must be a whole number, 1 to 500",
        "links[0].flexible.basis.modes = 0: must be a whole number, 1 to 100",
    ]


def test_conflicts_inside_nested_parts_keep_their_path():
    taper = {"root": {"shape": "tube", "outer": 1, "inner": 2}, "tip": {"shape": "circle", "diameter": 1}}
    link = {"name": "a", "length": 1, "mass": 1, "section": {"shape": "tapered", **taper}}
    assert message(fa.Robot, links=[link]) == "links[0].section.root.inner = 2.0: must be smaller than outer = 1 (m)"


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            {"joint": "revolut"},
            f"joint.type = 'revolut': unknown; did you mean 'revolute'? (allowed: {KINDS})",
        ),
        (
            {"joint": {"axis": "z"}},
            f"joint.type: is required (allowed: {KINDS})",
        ),
        ({"joint": {"type": "weld", "axis": "z"}}, "joint.axis: unknown field (allowed: type, mount)"),
        (
            {"section": {"shape": "oval"}},
            "section.shape = 'oval': unknown "
            "(allowed: rectangle, circle, tube, box, ibeam, properties, tapered, stepped)",
        ),
        ({"name": 3}, "name = 3: must be a name of letters, digits, _ and -"),
        ({"parent": 3}, "parent = 3: must be text"),
        (
            {"joint": fa.Material(2e11, 7850)},
            f"joint = Material(E=200000000000.0, rho=7850.0): must be {JOINTS}, or a mapping with its fields",
        ),
        ({"hub": [1]}, "hub = [1]: must be PointMass, or a mapping with its fields"),
        ({"masses": [{"mass": "1"}]}, "masses[0].mass = '1': must be a number (kg), not text"),
    ],
)
def test_messages_from_plain_data(part, expected):
    link = {"name": "a", "length": 1.0} | part
    assert message(fa.Robot, links=[link]) == "links[0]." + expected


def test_model_validate_speaks_our_words_too():
    assert message(fa.Material.model_validate, {"E": 1e11}) == "rho: is required"
    assert message(fa.Material.model_validate, 3) == "3: must be Material, or a mapping with its fields"


FIELDS = sorted({name for _, part in rrr_arm(True).parts() for name in type(part).model_fields})
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["z", "weld", "reduced", "tube", "a"])
)
garbage = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
)


@given(st.dictionaries(st.sampled_from(FIELDS), garbage, max_size=5))
def test_nonsense_is_always_refused_in_our_own_words(fields):
    link = {"name": "a", "joint": {"type": "revolute"}} | fields | {"length": -1.0}
    with pytest.raises(fa.DescriptionError) as caught:
        fa.Robot.model_validate({"links": [link]})
    assert "links[0].length = -1.0: must be positive (m)" in str(caught.value).splitlines()
    assert all(problem.path.startswith("links[0]") for problem in caught.value.problems)
    assert "pydantic" not in str(caught.value)
    assert "Input" not in str(caught.value)


def test_warnings_point_at_the_users_line():
    with pytest.warns(fa.UnitsWarning) as caught:
        fa.Material(200, 7850)
    assert str(caught[0].message) == "E = 200: looks like GPa; E is in Pa (steel 2.1e11)"
    assert caught[0].filename == __file__


def test_a_warning_is_raised_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        soft = fa.Material(200, 7850)
        arm = fa.Robot(links=[fa.Link("a", 1.0, section=fa.Section.circle(0.01), material=soft)])
        arm.with_({"links.a.length": 2.0}).rigid()
    assert len(caught) == 1


def test_warnings_about_parts_given_as_plain_data_have_their_path():
    with pytest.warns(fa.UnitsWarning, match=r"^material\.rho = 7\.85: looks like g/cm3"):
        fa.Link("a", 1.0, section=fa.Section.circle(0.01), material={"E": 2e11, "rho": 7.85})


def test_importing_the_room_is_light():
    """Without the package's own `__init__`, which also opens the heavier rooms."""
    code = f"""if True:
        import sys, types
        sys.modules["flexarm"] = types.ModuleType("flexarm")
        sys.modules["flexarm"].__path__ = [{str(Path(fa.__file__).parents[1])!r}]
        import flexarm.robot
        print([name for name in ("rich", "ruamel.yaml", "casadi", "scipy") if name in sys.modules])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_units_of_ready_made_parts_are_looked_at_once(monkeypatch):
    looked, own = [], fa.Material.unit_warnings

    def counted(self):
        looked.append(self)
        return own(self)

    monkeypatch.setattr(fa.Material, "unit_warnings", counted)
    with pytest.warns(fa.UnitsWarning) as caught:
        steel = fa.Material(E=210.0, rho=7850.0)
    bar = fa.Section.rectangle(0.01, 0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        links = [fa.Link(name, 1.0, section=bar, material=steel) for name in ("upper", "fore")]
        fa.Robot(links=links)
    assert len(looked) == len(caught) == 1
