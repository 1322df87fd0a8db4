"""Properties per length against the link's own values at each point."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.properties import LinkProperties

THICK, THIN = fa.Section.rectangle(0.02, 0.03), fa.Section.rectangle(0.01, 0.02)
STEPS = fa.Section.stepped([{"upto": 0.4, "section": THICK}, {"upto": 1.0, "section": THIN}])
ALUMINIUM = fa.Material(7e10, 2700)
LINKS = {
    "massless": fa.Link("link", 0.8),
    "mass alone": fa.Link("link", 0.8, mass=2.0),
    "uniform": fa.Link("link", 0.8, section=THICK, material=ALUMINIUM),
    "uniform, of a given mass": fa.Link("link", 0.8, section=THICK, mass=2.0),
    "taper": fa.Link("link", 0.8, section=fa.Section.tapered(THICK, THIN), material=ALUMINIUM),
    "taper of a given mass": fa.Link("link", 0.8, section=fa.Section.tapered(THICK, THIN), mass=2.0),
    "taper that does not": fa.Link("link", 0.8, section=fa.Section.tapered(THIN, THIN), material=ALUMINIUM),
    "steps": fa.Link("link", 0.8, section=STEPS, material=ALUMINIUM),
    "steps of a given mass": fa.Link("link", 0.8, section=STEPS, mass=2.0),
}


@pytest.mark.parametrize("kind", LINKS)
def test_mass_and_inertia_are_the_links_own(kind):
    link, xi = LINKS[kind], np.linspace(0.01, 0.99, 33)
    properties = LinkProperties(link)
    own = {
        "I_p": link.polar_inertia_per_length,
        "I_y": link.inertia_y_per_length,
        "I_z": link.inertia_z_per_length,
    }
    x = xi * link.length
    assert_allclose(properties.mass(x)[:, 0], [link.mass_per_length(each) for each in xi], rtol=1e-13)
    for moment, exact in own.items():
        assert_allclose(properties.inertia(moment)(x)[:, 0], [exact(each) for each in xi], rtol=1e-10)


def test_a_taper_is_held_by_quartics_and_a_torsion_constant_is_not():
    properties = LinkProperties(LINKS["taper"])
    assert properties.mass.degree == properties.stiffness("bend_y").degree == properties.inertia("I_p").degree == 4
    assert properties.stiffness("twist").degree > 4
    assert LinkProperties(LINKS["uniform"]).stiffness("twist").constant


class Waist(fa.Section):
    """Section of a user-defined kind, symmetric about the middle of the link."""

    shape: str = "waist"

    def at(self, xi):
        return fa.Section.circle(0.02 + 0.1 * (xi - 0.5) ** 2).at(0)

    @property
    def uniform(self):
        return False


def test_a_section_that_is_symmetric_about_the_middle_is_seen_to_vary():
    link = LINKS["uniform"].model_copy(update={"section": Waist()})
    x = np.linspace(0, 0.8, 101)
    exact = [link.mass_per_length(each) for each in x / 0.8]
    assert_allclose(LinkProperties(link).mass(x)[:, 0], exact, rtol=1e-9)


def test_a_section_is_evaluated_once_at_each_point():
    evaluated = []

    class Counted(Waist):
        def at(self, xi):
            evaluated.append(xi)
            return super().at(xi)

    families = fa.Flexible(bend_y=1, bend_z=1, twist=1, stretch=1)
    link = LINKS["uniform"].model_copy(update={"section": Counted(), "flexible": families, "rotary_inertia": True})
    integrals = LinkIntegrals(link)
    assert integrals.K.shape == (4, 4)
    assert integrals.M_elastic.shape == (4, 4)
    assert len(evaluated) == len(set(evaluated))
