"""Frames and the robot's tip in descriptions."""

from math import pi

import pytest

import flexarm as fa

LINKS = [fa.Link("upper", 1.0, mass=1.0), fa.Link("wrist", body=fa.RigidBody(1.0))]
TOOL = fa.Frame("tool", "wrist", position=(0, 0, 0.1), rpy=(0, pi / 2, 0))


def robot(**fields):
    return fa.Robot(links=LINKS, **fields)


def test_a_frame_is_at_a_section():
    arm = robot(frames=[TOOL, fa.Frame("end", "upper"), fa.Frame("middle", "upper", x=0.5)])
    assert arm.place("tool") == (1, 0.0, TOOL)
    assert [arm.place(name)[1] for name in ("end", "middle", "upper")] == [1.0, 0.5, 1.0]
    assert TOOL.matrix == ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))
    assert fa.Frame("tool", "wrist", rotation=TOOL.matrix).matrix == TOOL.matrix


def test_the_tip_is_that_of_the_last_link_of_the_longest_chain():
    assert robot().tip_name == "wrist"
    branch = fa.Link("sensor", 0.1, mass=0.1, parent="upper")
    tree = fa.Robot(links=[*LINKS, fa.Link("hand", 0.1, mass=0.1), branch])
    assert tree.tip_name == "hand"
    assert "tip of hand, the last link of the longest chain" in str(tree)
    assert tree.with_(tip="sensor").tip_name == "sensor"
    assert "tip of sensor" in str(tree.with_(tip="sensor"))
    even = fa.Robot(links=[*LINKS, branch])
    assert even.tip_name == "sensor"  # the last one


def test_tables_list_frames():
    text = str(robot(frames=[TOOL, fa.Frame("middle", "upper", x=0.5)], tip="tool"))
    assert "tip at frame tool" in text
    assert "frames on wrist: tool (0, 0, 0.1) m" in text
    assert "frames on upper: middle at 0.5 m" in text


def test_frames_are_saved_and_changed(tmp_path):
    arm = robot(frames=[TOOL], tip="tool")
    arm.save(tmp_path / "arm.yaml")
    assert fa.load(tmp_path / "arm.yaml") == arm
    changed = arm.with_({"frames.tool.position": (0, 0, 0.2), "frames.0.rpy.0": 0.1})
    assert changed.frames[0].position == (0.0, 0.0, 0.2)
    assert changed.frames[0].rpy == (0.1, pi / 2, 0.0)
    assert arm.rigid().frames == arm.frames


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"frames": [fa.Frame("tool", "wirst")]}, r"frames\[0\].on = 'wirst': no such link; did you mean 'wrist'\?"),
        ({"frames": [fa.Frame("upper", "wrist")]}, r"frames\[0\].name = 'upper': is already the name of a link"),
        ({"frames": [TOOL, TOOL]}, r"frames\[1\].name = 'tool': is already the name of frames\[0\]"),
        (
            {"frames": [fa.Frame("far", "upper", x=2)]},
            r"frames\[0\].x = 2.0: must lie on link 'upper'",
        ),
        ({"frames": [TOOL], "tip": "tol"}, r"tip = 'tol': no such link or frame; did you mean 'tool'\?"),
        (
            {"frames": [TOOL], "constraints": [fa.OnLine("tool", at=0.1)]},
            r"constraints\[0\].at = 0.1: must be left out: 'tool' is a frame",
        ),
        (
            {"frames": [TOOL], "constraints": [fa.Loop("tol", "ground")]},
            r"constraints\[0\].first = 'tol': no such link or frame; did you mean 'tool'\?",
        ),
        (
            {"frames": [TOOL], "constraints": [fa.PointSupport("upper", on="tool")]},
            r"constraints\[0\].on = 'tool': no such link",
        ),
    ],
)
def test_wrong_frames_are_named(fields, sentence):
    with pytest.raises(fa.DescriptionError, match=sentence):
        robot(**fields)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": "tip"}, "name = 'tip': must be another name"),
        ({"rpy": (0.1, 0, 0), "rotation": (0.1, 0, 0)}, "rotation: must be left out if rpy is given"),
        ({"rpy": (0.1, 0)}, "rpy = .*: must be 3 finite numbers"),
        ({"rotation": [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}, "determinant is -1"),
    ],
)
def test_wrong_fields_of_a_frame(fields, sentence):
    with pytest.raises(fa.DescriptionError, match=sentence):
        fa.Frame(**{"name": "tool", "on": "wrist", **fields})


def test_angles_in_degrees_are_noticed():
    with pytest.warns(fa.UnitsWarning, match="rpy = .*: looks like degrees"):
        fa.Frame("tool", "wrist", rpy=(0, 90, 0))
