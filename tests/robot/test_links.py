"""Links: required parts, masses, problems."""

import warnings

import pytest

import flexarm.robot as fa
from flexarm.robot import Section

STEEL = fa.Material(2e11, 7850)
BAR = Section.rectangle(0.02, 0.01)


def test_a_link_weighs_density_times_volume():
    link = fa.Link("a", 2.0, section=BAR, material=STEEL)
    assert link.mass_per_length(0.3) == pytest.approx(7850 * 2e-4)
    assert link.beam_mass == pytest.approx(7850 * 2e-4 * 2)
    assert link.polar_inertia_per_length(0.3) == pytest.approx(7850 * BAR.at(0).I_p)
    assert link.inertia_y_per_length(0) == pytest.approx(7850 * BAR.at(0).I_y)
    assert link.inertia_z_per_length(1) == pytest.approx(7850 * BAR.at(0).I_z)


def test_a_given_mass_is_spread_evenly_and_scales_the_density():
    taper = Section.tapered(BAR, Section.rectangle(0.01, 0.01))
    link = fa.Link("a", 2.0, section=taper, material=STEEL, mass=3.0)
    assert link.mass_per_length(0.1) == link.mass_per_length(0.9) == 1.5
    assert link.beam_mass == pytest.approx(3.0)
    tip = taper.at(1)
    assert link.polar_inertia_per_length(1.0) == pytest.approx(1.5 / tip.A * tip.I_p)
    assert fa.Link("a", 2.0, mass=3.0).polar_inertia_per_length(0.5) == 0.0


def test_varying_sections_weigh_their_volume():
    cone = Section.tapered(Section.circle(0.04), Section.circle(0.02))
    volume = 3.141592653589793 / 12 * 2.0 * (0.04**2 + 0.04 * 0.02 + 0.02**2)  # frustum
    assert fa.Link("a", 2.0, section=cone, material=STEEL).beam_mass == pytest.approx(7850 * volume, rel=1e-12)
    steps = Section.stepped([{"upto": 0.25, "section": BAR}, {"upto": 1, "section": Section.rectangle(0.01, 0.01)}])
    assert fa.Link("a", 2.0, section=steps, material=STEEL).beam_mass == pytest.approx(7850 * (2e-4 * 0.5 + 1e-4 * 1.5))


def test_a_bare_link_is_massless_and_lumps_add_up():
    link = fa.Link("a", 1.0)
    assert (link.mass_per_length(0.5), link.total_mass) == (0.0, 0.0)
    loaded = fa.Link("a", 1.0, mass=1, hub=fa.PointMass(2), payload=fa.PointMass(3), masses=[fa.PointMass(4, at=0.5)])
    assert loaded.total_mass == pytest.approx(10.0)


def test_strings_are_shorthand_for_joints():
    assert fa.Link("a", 1.0, joint="weld").joint == fa.Weld()
    assert fa.Link("a", 1.0).joint == fa.Revolute("z")


def test_names_may_hold_letters_of_any_language():
    assert fa.Link("Ausleger-ä_2", 1.0).name == "Ausleger-ä_2"


FLEX = fa.Flexible(bend_y=1)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"length": 0}, "length = 0: must be positive (m)"),
        ({"length": -1}, "length = -1: must be positive (m)"),
        ({"name": ""}, "name = '': must be a name of letters, digits, _ and -"),
        ({"name": "a[0]"}, "name = 'a[0]': must be a name of letters, digits, _ and -"),
        ({"name": "a\n"}, "name = 'a\\n': must be a name of letters, digits, _ and -"),
        ({"name": "ground"}, "name = 'ground': must be another name: 'ground' is what the robot stands on"),
        ({"mass": -1}, "mass = -1: must be zero or positive (kg)"),
        (
            {"flexible": FLEX},
            "section: is required, since the link is flexible\nmaterial: is required, since the link is flexible",
        ),
        ({"flexible": FLEX, "section": BAR, "mass": 1}, "material: is required, since the link is flexible"),
        (
            {"flexible": FLEX, "section": BAR, "material": STEEL, "mass": 0},
            "mass = 0.0: must be positive (kg), since the link is flexible",
        ),
        ({"section": BAR}, "material: is required with a section, unless mass is given"),
        ({"material": STEEL}, "section: is required with a material, unless mass is given"),
        ({"hub": fa.PointMass(1, at=0)}, "hub.at = 0.0: must be left out: a hub sits at the root; use `masses`"),
        (
            {"payload": fa.PointMass(1, at=1)},
            "payload.at = 1.0: must be left out: a payload sits at the tip; use `masses`",
        ),
        ({"masses": [fa.PointMass(1)]}, "masses[0].at: is required: the distance from the link's root (m)"),
        ({"masses": [fa.PointMass(1, at=1.5)]}, "masses[0].at = 1.5: must lie on the link, between 0 and 1 (m)"),
        ({"at": -1}, "at = -1: must be zero or positive (m)"),
        ({"offset": (0, 0)}, "offset = (0, 0): must be 3 finite numbers (m)"),
    ],
)
def test_refusals(fields, expected):
    with pytest.raises(fa.DescriptionError) as caught:
        fa.Link(**({"name": "a", "length": 1.0} | fields))
    assert str(caught.value) == expected


def test_a_rigid_link_with_a_mass_needs_no_material():
    assert fa.Link("a", 1.0, section=BAR, mass=1).beam_mass == pytest.approx(1)


@pytest.mark.parametrize(
    ("length", "section", "expected"),
    [
        (1000, None, "length = 1000: looks like mm; length is in m"),
        (0.5, Section.circle(20), "section.diameter = 20: is larger than the link's length 0.5; both are in m"),
        (
            0.5,
            Section.tapered(Section.circle(0.1), Section.circle(0.6)),
            "section.tip.diameter = 0.6: is larger than the link's length 0.5; both are in m",
        ),
    ],
)
def test_unit_warnings(length, section, expected):
    with pytest.warns(fa.UnitsWarning) as caught:
        fa.Link("a", length, section=section, mass=1)
    assert [str(warning.message) for warning in caught] == [expected]


def test_usual_links_raise_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fa.Link("a", 0.01, section=Section.circle(0.01), mass=1)


STEPS = Section.stepped([{"upto": 0.2, "section": BAR}, {"upto": 0.5, "section": BAR}, {"upto": 1, "section": BAR}])


@pytest.mark.parametrize(
    ("flexible", "field"),
    [
        (fa.Flexible(bend_y=3, twist=2, basis="elements"), "twist"),
        (fa.Flexible(bend_y=2, basis=fa.Reduced(2)), "basis.elements"),
    ],
)
def test_a_mesh_needs_an_element_for_each_piece_of_a_section(flexible, field):
    with pytest.raises(fa.DescriptionError) as caught:
        fa.Link("a", 1.0, section=STEPS, material=STEEL, flexible=flexible)
    assert str(caught.value) == (
        f"flexible.{field} = 2: must be at least 3: one element for each piece of the stepped section"
    )


@pytest.mark.parametrize(
    "flexible",
    [fa.Flexible(bend_y=1), fa.Flexible(bend_y=3, basis="elements"), fa.Flexible(bend_y=1, basis=fa.Reduced(3))],
)
def test_modes_and_fine_meshes_suit_a_stepped_section(flexible):
    assert fa.Link("a", 1.0, section=STEPS, material=STEEL, flexible=flexible).flexible == flexible


def test_one_mass_is_not_a_list_of_masses():
    with pytest.raises(fa.DescriptionError) as caught:
        fa.Link("a", 1.0, masses=fa.PointMass(1.0))
    assert str(caught.value) == "masses = PointMass(mass=1.0): must be a list of PointMass"
