"""Descriptions of constraints: names, files, error messages."""

import pytest

import flexarm.robot as fa


def link(name, **fields):
    return fa.Link(name, 1.0, mass=1.0, **fields)


def robot(*constraints):
    return fa.Robot(links=[link("a"), link("b")], constraints=constraints)


def test_constraints_are_part_of_the_robot_and_survive_files(tmp_path):
    tied = robot(
        fa.Loop("b", "ground", position=(1, 1, 0), axis=(0, 0, 1)),
        fa.Loop("b", "a", second_at=0.5, joint="weld", mount=(0, 0, 1.5), name="knee"),
        fa.OnLine("b", at=0.3, point=(0, 1, 0), direction=(1, 1, 0)),
        fa.OnPlane("a", normal="y"),
        fa.PointSupport("b", (1.5, 0, 0), directions="y"),
    )
    tied.save(tmp_path / "tied.yaml")
    assert fa.load(tmp_path / "tied.yaml") == tied
    lines = (tmp_path / "tied.yaml").read_text().splitlines()
    assert "  - {type: on-plane, link: a, normal: y}" in lines
    assert tied.rigid().constraints == tied.constraints
    assert fa.schema()["properties"]["constraints"]["type"] == "array"


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: fa.Loop("a", "a"), "second = 'a': must be another link, or another place on the same one"),
        (lambda: fa.Loop("ground", "a"), "first = 'ground': must be a link; the ground comes second"),
        (
            lambda: fa.Loop("a", "ground", second_at=0.5),
            "second_at = 0.5: must be left out: a point of the ground is its position",
        ),
        (
            lambda: fa.Loop("a", "b", position=(1, 0, 0)),
            "position = (1.0, 0.0, 0.0): is for second = ground only; here it is 'b'",
        ),
        (lambda: fa.Loop("a", "b", joint="ball"), "joint = 'ball': unknown (allowed: revolute, weld)"),
        (lambda: fa.OnLine("a", direction=(0, 0, 0)), "direction = (0, 0, 0): must not be zero: it has no direction"),
        (lambda: fa.OnPlane("a", at=-1), "at = -1: must be zero or positive (m)"),
        (lambda: fa.PointSupport("a", (1, 0)), "position = (1, 0): must be 3 finite numbers (m)"),
        (
            lambda: fa.PointSupport("a", (1, 0, 0), "x"),
            "directions = 'x': unknown (allowed: yz, y, z)",
        ),
        (
            lambda: robot(fa.OnPlane("c")),
            "constraints[0].link = 'c': no such link (allowed: a, b)",
        ),
        (
            lambda: robot(fa.Loop("b", "groud")),
            "constraints[0].second = 'groud': no such link; did you mean 'ground'? (allowed: a, b, ground)",
        ),
        (
            lambda: robot(fa.OnPlane("a"), fa.Loop("b", "a", first_at=2)),
            "constraints[1].first_at = 2.0: must lie on link 'b', between 0 and 1 (m)",
        ),
        (
            lambda: robot(fa.OnPlane("a", name="wall"), fa.OnPlane("b", name="wall")),
            "constraints[1].name = 'wall': is already the name of constraints[0]",
        ),
        (
            lambda: robot({"type": "spring"}),
            "constraints[0].type = 'spring': unknown (allowed: loop, on-line, on-plane, point-support)",
        ),
    ],
)
def test_wrong_constraints_are_sentences(make, expected):
    with pytest.raises(fa.DescriptionError) as caught:
        make()
    assert str(caught.value) == expected


def test_a_link_with_a_free_root_needs_a_constraint():
    flexible = fa.Flexible(bend_y=3, basis=fa.Elements(root="free"))
    strip = {"section": fa.Section.rectangle(0.03, 0.003), "material": fa.Material(7e10, 2700), "flexible": flexible}
    link = fa.Link("beam", 1.0, fa.SlidingPrismatic(), **strip)
    with pytest.raises(fa.DescriptionError, match=r"basis.root = 'free': needs a constraint that holds the link"):
        fa.Robot("loose", [link])
    robot = fa.Robot("held", [link], constraints=[fa.PointSupport("beam", (x, 0, 0), "y") for x in (0.1, 0.4)])
    assert robot.links[0].coordinates == 1 + 8
    with pytest.raises(fa.DescriptionError, match="must be 'clamped': the joint holds the link"):
        fa.Link("beam", 1.0, fa.FixedPrismatic(), **strip)
