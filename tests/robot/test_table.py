"""Tables of robots."""

import flexarm.robot as fa
from flexarm.robot.library import rrr_arm, tokhi_azad_arm, two_link_arm


def test_text_shows_the_robot():
    text = str(two_link_arm())
    header, *_, upper, _, fore, model, _, _, _, _, _ = text.splitlines()
    assert header == "two-link flexible arm: no gravity, 8 coordinates, 0.4444 kg, tip of fore"
    assert upper.split("  ")[0].strip() == "upper"
    for cell in ("revolute z", "0.5 m", "rectangle 5 x 5 mm", "0.09813 kg", "bend_y 3, modes", "0.15 kg"):
        assert cell in fore
    assert model.strip() == "exact"
    second = str(rrr_arm().with_({"links.upper.rotary_inertia": True}))
    assert "shortening" in second
    assert "rotary" in second
    assert "stiffening" in str(two_link_arm().with_({"links.fore.flexible.stiffening": "none"}))


def test_text_shows_loads_of_modes_and_selected_numbers():
    arm = two_link_arm()
    assert [line for line in str(arm).splitlines() if "its modes" in line] == [
        "upper: its modes carry 0.2481 kg, 0.04568 kg m2 at its tip (hinged: 1 % of the inertia in bend_y)",
        "fore: its modes carry 0.15 kg at its tip",
    ]
    bare = str(arm.with_({"links.upper.flexible.basis.tip_mass": 0.0}))
    assert "upper: its modes carry nothing (given)" in bare
    lump = str(arm.with_({"links.fore.masses": [fa.PointMass(0.2, at=0.25)]}))
    assert "fore: its modes carry 0.2 kg at 0.25 m and 0.15 kg at its tip" in lump
    picked = " ".join(str(arm.with_({"links.fore.flexible": fa.Flexible(up_to=50)})).split())
    assert "fore: bend_y 4, stretch 1 (picked: modes below 50 Hz; expect frequencies to 0.5 %; no bend_z or" in picked
    assert "its modes" not in str(rrr_arm())
    assert "<p>fore: its modes carry 0.15 kg at its tip</p>" in arm._repr_html_()


def test_text_shows_the_stiff_direction_of_links():
    def beam(width, height):
        section, steel = fa.Section.rectangle(width, height), fa.Material(210e9, 7800.0)
        return fa.Robot(links=[fa.Link("beam", 1.0, section=section, material=steel, flexible=fa.Flexible(bend_y=3))])

    def first(size):  # 1.8751^2 / (2 pi l^2) sqrt(E I / (rho A)), and I / A = size^2 / 12
        return 1.875104**2 / (2 * 3.141592653589793) * (210e9 / 7800.0 * size**2 / 12) ** 0.5

    upright, flat = str(beam(0.004, 0.1)).splitlines()[-2], str(beam(0.1, 0.004)).splitlines()[-2]
    assert upright.endswith(f"about {first(0.004):.3g} Hz along y, {first(0.1):.3g} Hz along z (no shapes)")
    assert flat.endswith(f"about {first(0.1):.3g} Hz along y, {first(0.004):.3g} Hz along z (no shapes)")


def test_text_names_the_link_whose_tip_it_is():
    arm = two_link_arm()
    longer = fa.Robot("arm", links=[*arm.links, fa.Link("sensor", 0.02, joint="weld", mass=0.01)])
    assert str(arm).splitlines()[0].endswith("tip of fore")
    assert str(longer).splitlines()[0].endswith("tip of sensor")


def test_text_is_plain_and_at_most_100_wide():
    text = str(rrr_arm(elastic_joints=True).with_(gravity=(0, 0, -9.81)))
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 100
    assert "gravity (0, 0, -9.81) m/s2" in text
    assert "revolute x, elastic" in text


def test_names_are_not_markup():
    robot = fa.Robot("[bold]<b>arm</b>", links=[fa.Link("a", 1.0, joint="weld"), fa.Link("b", 1.0, parent="a")])
    assert "[bold]<b>arm</b>" in str(robot)
    assert "&lt;b&gt;arm" in robot._repr_html_()
    assert "<b>" not in robot._repr_html_()


def test_html_has_a_row_for_each_link():
    html = tokhi_azad_arm(0.05)._repr_html_()
    assert html.count("<tr>") == 2
    assert "<td>0.05 kg</td><td>0.000586 kg m2</td>" in html


def test_text_is_ascii_however_narrow_its_columns():
    long = "a-link-with-a-name-much-longer-than-any-column-of-the-table-can-be-without-being-folded-somewhere"
    for robot in (rrr_arm(elastic_joints=True), two_link_arm().with_({"links.fore.name": long})):
        assert str(robot).isascii()


def test_reduced_links_show_the_coordinates_they_use():
    robot = two_link_arm().with_({"links.fore.flexible.basis": fa.Reduced(8, modes=2)})
    assert "bend_y 2, reduced" in robot._repr_html_()
