import numpy as np

import flexarm as fa

from .runs import cart, two_link

ROD = {"length": 1.0, "mass": 1.0}


def titles(run: fa.Run) -> list[str]:
    return [plot.get_title() for plot in run.plot().axes]


def test_panels_that_would_be_empty_are_left_out():
    welded = fa.Link(
        "beam",
        length=1.0,
        joint=fa.Weld(),
        section=fa.Section.rectangle(0.01, 0.01),
        material=fa.Material(E=7e10, rho=2700),
        flexible=fa.Flexible(bend_y=1),
    )
    still = fa.simulate(fa.Robot("beam", links=[welded]), 0.1, native=False)
    assert titles(still) == ["tip"]  # no joint, no actuator, no energy
    rigid = fa.simulate(fa.Robot("rod", links=[fa.Link("rod", **ROD)]), 0.1, torque={"rod": 1.0}, native=False)
    assert titles(rigid) == ["joints", "tip", "actuators", "energies"]


def test_curves_are_called_after_their_links():
    figure = two_link().plot(other=two_link(rigid=True))
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["upper", "fore", "rigid twin"]
    assert cart().plot().axes[0].get_ylabel() == "angle (rad), travel (m)"
    assert cart().plot().axes[2].get_ylabel() == "torque (N m), force (N)"


def test_energies_that_swing_fast_are_drawn_as_ranges():
    run = two_link()
    data = run.data.copy()
    data["kinetic"].values[:] = np.sin(np.arange(len(run.time))) ** 2
    energies = fa.Run(data).plot().axes[3]
    assert "kinetic (range)" in [text.get_text() for text in energies.get_legend().get_texts()]
