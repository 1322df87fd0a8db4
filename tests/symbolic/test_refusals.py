"""Errors for robots without a closed form, for clashing symbols and for forms that are too large."""

import pytest

import flexarm as fa
from benchmarks.robots import planar_chain, spatial_chain
from flexarm.cli.analyze import select_format
from tests.symbolic.cases import arm, bending, joint, link, size_ratio


def refusal(robot, **options):
    with pytest.raises((ValueError, TypeError)) as caught:
        fa.equations(robot, **options)
    return str(caught.value)


def test_robots_are_required():
    assert "needs a Robot, but got str" in refusal("arm.yaml")


def test_shear_has_no_closed_form():
    short = fa.Robot(links=[link("a", "R", flexible=fa.Flexible(bend_y=2, shear=True))])
    assert refusal(short) == "links[0] 'a': flexible.shear = True: must be false, since closed forms have no shear"


def test_options():
    assert refusal(arm(1), route="maple") == "route = 'maple': must be one of 'extended', 'global'"
    assert refusal(arm(1), boundary="no") == "boundary = 'no': must be one of 'eliminated', 'kept'"
    assert "must be 'symbolic', 'numeric' or a list" in refusal(arm(1), parameters="exact")
    assert "parameters: there is no symbol 'm_9'; did you mean 'm_" in refusal(arm(1), parameters=["m_9"])
    assert "limit = -1: must be a positive number" in refusal(arm(1), limit=-1)


def test_options_of_wrong_types():
    for wrong in (5, None, [["l_1"]]):
        assert "must be 'symbolic', 'numeric' or a list" in refusal(arm(1), parameters=wrong)
    assert "rename 'l_1' to 3: must be a name" in refusal(arm(1), rename={"l_1": 3})
    assert "must be a mapping from symbols to names" in refusal(arm(1), rename=["f"])
    assert "k = 3: must be a mapping" in refusal(arm(1), k=3)


def test_material_that_appears_in_a_joint():
    for flexible in (None, bending(1, "modes")):
        robot = fa.Robot(links=[link("a", "Pb", flexible, joint=joint("Pb", rear="none"))])
        assert "links[0] 'a': rear='none' has no closed form here" in refusal(robot)


def test_nodes_of_joints():
    touching = fa.SlidingPrismatic(contact="nodal")
    robot = fa.Robot(links=[link("a", "R", bending(3)), link("b", "Pa", joint=touching)])
    missing = refusal(robot)
    assert missing.startswith(
        "k of 'b' is missing: its joint touches a node of 'a', so specify one, for example k={'b'"
    )
    for wrong in (4, -1, 1.5, True):
        assert "a whole number between 0 (root) and 3 (tip)" in refusal(robot, k={"b": wrong})
    assert "no joint with contact nodal or element has that name" in refusal(robot, k={"a": 1, "b": 1})


def test_elements_in_joints():
    touching = fa.SlidingPrismatic(contact="element")
    robot = fa.Robot(links=[link("a", "R", bending(3)), link("b", "Pa", joint=touching)])
    assert refusal(robot).startswith("k of 'b' is missing: its joint touches an element of 'a', so specify one")
    for wrong in (0, 4, True):
        assert "a whole number between 1 (at the root) and 3 (at the tip)" in refusal(robot, k={"b": wrong})


def test_boundaries_are_kept_of_meshes_only():
    robot = fa.Robot(links=[link("a", "R", bending(1, "modes"))])
    assert "boundary = 'kept' needs links with basis elements" in refusal(robot, boundary="kept")


def test_places_on_a_link_that_slides_and_bends():
    robot = fa.Robot(links=[link("a", "Pb", bending(1, "modes")), link("b", "R", at=0.5)])
    assert "links[1] 'b': at = 0.5: must be left out (or 1, the tip)" in refusal(robot)


@pytest.mark.parametrize(
    ("rename", "sentence"),
    [
        ({"m_1": "m_2"}, "the symbol 'm_2' would mean two things"),
        ({"theta_1": "l_1"}, "the symbol 'l_1' would mean two things"),
        ({"m_1": "m", "m_2": "m"}, "the symbol 'm' would mean two things"),
        ({"m_1": "lambda"}, "rename 'm_1' to 'lambda': must be letters, digits and _ that code can use"),
        ({"m_1": "m 1"}, "rename 'm_1' to 'm 1': must be letters"),
        ({"m_1": "x3"}, "rename 'm_1' to 'x3': the generated functions use that name themselves"),
        ({"m_1": "M"}, "rename 'm_1' to 'M': the generated functions use that name themselves"),
        ({"m_1": "double"}, "rename 'm_1' to 'double': is a word of C, Python or MATLAB"),
        ({"m_1": "end"}, "rename 'm_1' to 'end': is a word of C, Python or MATLAB"),
        ({"m_1": "list"}, "rename 'm_1' to 'list': is a word of C, Python or MATLAB"),
        ({"m_1": "_m"}, "rename 'm_1' to '_m': must be letters"),
        ({"mass": "m"}, "rename: there is no symbol 'mass'"),
    ],
)
def test_names_that_clash_are_refused(rename, sentence):
    assert sentence in refusal(arm(1), rename=rename)


def test_symbols_can_be_renamed():
    form = fa.equations(arm(1), rename={"theta_1": "alpha", "m_1": "mu"})
    assert str(form.q[0]) == "alpha"
    assert "mu" in form.values
    assert "$\\alpha$" in form.latex()


def test_the_ending_of_a_file_selects_the_format():
    assert select_format(None, "arm.tex") == "latex"
    assert select_format("c", "arm.h") == "c"
    with pytest.raises(ValueError, match=r"--output arm\.doc: must end in one of \.txt, \.tex, \.py, \.c, \.m"):
        select_format(None, "arm.doc")


# --- size ---


def test_large_forms_are_refused_before_any_work():
    sentence = refusal(spatial_chain(5))
    assert "would have about" in sentence
    assert "take fewer elements or modes" in sentence
    assert "link4" in sentence
    assert "fa.System has none" in sentence
    assert "more than 10:" in refusal(arm(1), limit=10)
    assert "parameters='numeric' makes it shorter" in refusal(arm(1), limit=10)
    assert "makes it shorter" not in refusal(arm(1), limit=10, parameters="numeric")
    assert "modes" not in refusal(arm(1).rigid(), limit=1)
    assert fa.equations(planar_chain(3)) is not None


@pytest.mark.parametrize(
    "robot", [arm(1), arm(4), planar_chain(2), fa.library.rrr_arm().rigid(), spatial_chain(1)], ids=lambda r: r.name
)
def test_the_estimate_is_right_within_a_factor_of_four(robot):
    assert 0.25 < size_ratio(robot, stiffening="none") < 4
