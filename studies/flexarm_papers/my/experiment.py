"""Section 5: the robot of the experiment, simulated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import flexarm as fa
from flexarm_papers.figures import Curves, curves
from flexarm_papers.my.robots import OURS, PAPER, READINGS, experiment
from flexarm_papers.my.runs import (
    DURATIONS,
    INPUTS,
    INPUTS_END,
    flexible_run,
    flexural,
    inputs,
    largest_bend,
    moved,
    peak,
    rigid_run,
)
from flexarm_papers.page import Page


def robot_of_the_experiment(page: Page) -> None:
    page.heading("The robot of the experiment (section 5)")
    bar = READINGS["I of Table 3"].at(0.0)
    page.text(f"""
        A prismatic joint, then a hinge: C_PaR with the parameters of Table 3 (the text says Table 2), but l_1 = 5 mm,
        l_2 = 0.3 m, a payload of 20 g (m_i is printed, and read as m_t) and A = 2e-5 m^2. The text changes nothing
        else, so I = {bar.I_z:.0e} m^4 stands, and that is what is computed: a bar that is
        {_sides("I of Table 3")} has both. A strip of 20 x 1 mm with the same A would be easier to bend, and is the
        other way to read it; what it gives stands in the table below. Only the simulated curves are made here, in the
        paper's model; the measured ones stood in figures 13 to 15 and are not at hand.
    """)
    force, torque = INPUTS["experiment"]
    page.chosen(
        [
            (
                "inputs (figure 12)",
                f"{force:g} N and {torque:g} N m, switched as before",
                "small deflections, either way",
            ),
            ("start", "at rest, both joints at zero", "as good as any"),
            ("elements", "three", "as C_PaR has"),
            ("duration", f"{DURATIONS['experiment']:g} s", "six times as long as the inputs"),
        ]
    )
    run, rigid, driven = flexible_run("experiment"), rigid_run("experiment"), inputs("experiment")
    time = np.linspace(0, 2 * INPUTS_END, 1001)

    def joint(quantity: str) -> Curves:
        return {"flexible": (run.time, run[quantity].values), "rigid": (rigid.time, rigid[quantity].values)}

    panels: dict[str, Curves] = {
        "force 1 (N)": {"input": (time, driven["link1"](time))},
        "torque 2 (N m)": {"input": (time, driven["link2"](time))},
        "d_1 (m)": joint("link1.q"),
        "theta_2 (rad)": joint("link2.q"),
    }
    caption = "Figures 12 and 13, simulated: inputs during their first second, and joint displacements."
    page.figure("figures_12_13", curves(panels, columns=2), caption)
    node = run["link2.bend_y[1]"]  # of elements the first coordinate is the displacement at the second node
    early = run.time.values <= 2 * INPUTS_END
    bending = {
        label: (run.time.values[early], 1000 * np.asarray(each)[early])
        for label, each in (("tip", flexural(run)), ("second node", node.values))
    }
    caption = f"""Figure 14, simulated, its first second: flexural displacement at the second node of link 2, a third of
        its length from the hinge, and at the tip, where it reaches {largest_bend(run):.2%} of the length."""
    page.figure("figure_14", curves({"displacement (mm)": bending}), " ".join(caption.split()))
    page.data("experiment_paper", run)
    page.table(
        [
            "link 2",
            "I (m^4)",
            "first free mode (Hz)",
            "peak at the tip (mm)",
            f"the same, {1000 * OURS.damping:g} ms (mm)",
        ],
        [_reading(each) for each in READINGS],
    )
    soft = peak(moved("experiment", experiment(PAPER, "a strip of 20 x 1 mm")))
    times = soft / peak(run)
    unseen = f"""the measured curves (figures 13 to 15) and the inputs (figure 12) are not at hand; both would decide.
        With the inputs chosen here the tip bends by {1000 * peak(run):.2f} mm, or by {times:.0f} times that if link 2
        was the strip"""
    page.statements(
        [
            ("in the steady state measured and computed joints differ by about 2.5 %", unseen, None),
            ("measured and simulated flexural displacements match well", "the same would decide", None),
        ]
    )


def _sides(reading: str) -> str:
    """The rectangle's sides: in the plane of motion, across it."""
    section = READINGS[reading].at(0.0)
    thickness = (12 * section.I_z / section.A) ** 0.5
    return f"{1000 * thickness:.1f} mm thick in the plane and {1000 * section.A / thickness:.1f} mm across it"


def _reading(reading: str) -> tuple[str, ...]:
    robot = experiment(PAPER, reading)
    free = first_free(robot)
    damped = experiment(replace(PAPER, damping=OURS.damping), reading)
    peaks = (f"{1000 * peak(moved('experiment', each)):.2f}" for each in (robot, damped))
    return (reading, f"{READINGS[reading].at(0.0).I_z:.3e}", f"{free:.1f}", *peaks)


def first_free(robot: fa.Robot) -> float:
    """Frequency of the first mode that bends, joints free (Hz)."""
    frequencies = fa.modes(robot).frequencies
    return float(frequencies[frequencies > 1e-3][0])
