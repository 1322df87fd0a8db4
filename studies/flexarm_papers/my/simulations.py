"""Section 4.5: the motions of C_PaR and C_RPb, in the paper's model and in ours."""

from __future__ import annotations

import numpy as np

import flexarm as fa
from flexarm_papers.figures import Curves, curves
from flexarm_papers.my.drawings import parameters, poses
from flexarm_papers.my.robots import OURS, PAPER, RHO, ROBOTS, SECTIONS, STEPS, Model, c_par, elements, modes
from flexarm_papers.my.runs import (
    INPUTS,
    INPUTS_END,
    STARTS,
    beside_each_other,
    changes,
    deviation,
    flexible_run,
    flexural,
    inputs,
    largest_bend,
    last,
    momentum_left,
    moved,
    peak,
    push,
    rigid_run,
    slope,
)
from flexarm_papers.page import Page

FIRST = 2.0  # s, over which meshes are compared


def the_two_robots(page: Page) -> None:
    page.heading("C_PaR and C_RPb (section 4.5)")
    caption = """The two robots: axes of the ground, joint variables and lengths. In C_PaR a slide at d_1 carries link 1
        across the ground. In C_RPb link 2 slides through a guide at the end of link 1; the element in the guide, whose
        two nodes the paper holds, is violet."""
    page.figure("parameters", parameters(), " ".join(caption.split()))
    page.text("""
        Table 3 gives both robots: link 1 is rigid, link 2 bends, by three elements in C_PaR and by five in C_RPb. The
        rigid robots of the same parameters move beside them. Captions of figures 4 to 6 name the second robot C_RPa;
        table, text and figures 7 to 9 name C_RPb, with gamma_2 = 0, and that is what is computed. E is taken as
        printed, 2e10 N/m^2, a tenth of what the density of 7850 kg/m^3 suggests.

        **The paper's model** comes first: equation (7), which has no damping; links as long when they are bent as
        when they are straight (`stiffening="none"`); and section 4.3, by which both nodes of the element in the guide
        are held (`contact="element"`). **Ours** stands beside it, with what the second table tells. Verdicts are
        about the paper's model.
    """)
    (force1, torque2), (torque1, force2) = INPUTS["C_PaR"], INPUTS["C_RPb"]
    amplitudes = f"C_PaR: {force1:g} N, {torque2:g} N m; C_RPb: {torque1:g} N m, {force2:g} N"
    start = f"at rest; joint 1 at 0, theta_2 = {STARTS['C_PaR']:.3f} rad (C_PaR), d_2 = {STARTS['C_RPb']:g} m (C_RPb)"
    ends = f"{INPUTS_END / 2:g} and {INPUTS_END:g} s, then nothing"
    page.chosen(
        [
            ("inputs (figure 4)", amplitudes, "tips deflect by less than a tenth of the length that sticks out"),
            ("switch times", ends, "the paper: after 0.5 s the behaviour depends mainly on inertia"),
            ("start", start, "C_PaR moves along both axes; d_2 stays below the length of link 2"),
            ("link 1", "a uniform rigid bar", "only its mass is given"),
            ("sections", "40 x 3 mm and 30 x 1.5 mm, thin in the plane", "they have the A and I of Table 3"),
            ("a node in the guide", "the element that ends there is held", "then d_2 itself is free"),
            (
                "a change of element",
                "what nodes that are caught have of displacement and velocity is projected away, with the mass matrix",
                "the least change of motion that does it",
            ),
        ]
    )
    page.changed(
        [
            (
                "no damping: equation (7)",
                f"Kelvin-Voigt, {1000 * OURS.damping:g} ms",
                "no link rings on for ever, and only then few elements are enough (below)",
            ),
            (
                "bent links are as long as straight ones",
                'bent links are shorter (`stiffening="shortening"`)',
                "the neglected terms are of the order of those that are kept",
            ),
            (
                "both nodes of the element in the guide are held",
                'the point in the guide is held (`contact="continuous"`)',
                "the free length is d_2 and changes without jumps",
            ),
        ]
    )
    time = np.linspace(0, 2 * INPUTS_END, 1001)
    kinds = {"C_PaR": ("force 1 (N)", "torque 2 (N m)"), "C_RPb": ("torque 1 (N m)", "force 2 (N)")}
    panels = {
        f"{name}: {kind}": {"input": (time, profile(time))}
        for name in ROBOTS
        for kind, profile in zip(kinds[name], inputs(name).values(), strict=True)
    }
    page.figure("figure_4", curves(panels, columns=2), "Figure 4: the inputs, during their first second.")
    for name in ROBOTS:
        page.data(f"{name}_paper", flexible_run(name))
        page.data(f"{name}_ours", flexible_run(name, OURS))
        page.data(f"{name}_rigid", rigid_run(name))


def joint_displacements(page: Page) -> None:
    joints = {"C_PaR": ("d_1 (m)", "theta_2 (rad)"), "C_RPb": ("theta_1 (rad)", "d_2 (m)")}
    panels = {
        f"{name}: {joint}": beside_each_other(name, f"link{k}.q")
        for name in ROBOTS
        for k, joint in enumerate(joints[name], start=1)
    }
    page.figure("figure_5", curves(panels, columns=2), "Figure 5: joint displacements.")
    paper, ours, rigid = (last(run) for run in (flexible_run("C_RPb"), flexible_run("C_RPb", OURS), rigid_run("C_RPb")))
    force = 1000 * push(flexible_run("C_RPb", OURS))
    page.text(f"""
        The hinges vibrate about the way of the rigid robots. The guide of C_RPb tells another story: at last d_2 is
        {paper:.3f} m in the paper's model, {rigid:.3f} m in the rigid robot and {ours:.3f} m in ours. With the
        element in the guide held, the elastic energy does not depend on d_2 until the element changes: nothing pushes
        the link out, and the inertia of its vibration draws it in. Held at the point in the guide, a bent link pushes
        itself out, since it is softer the further it sticks out: with the elastic energy U of its front by 3 U / d_2,
        less what its rear pushes back. That is {force.mean():.2f} mN in the mean and {force.max():.1f} mN at most:
        little, but for 20 s and in one direction.
    """)


def displacements_and_slopes(page: Page) -> None:
    panels: dict[str, Curves] = {}
    models: dict[str, Model] = {"the paper's model": PAPER, "ours": OURS}
    for name in ROBOTS:
        runs = {label: flexible_run(name, model) for label, model in models.items()}
        panels[f"{name}: displacement (mm)"] = {label: (run.time, 1000 * flexural(run)) for label, run in runs.items()}
        panels[f"{name}: slope (rad)"] = {label: (run.time, slope(run)) for label, run in runs.items()}
    reach = " and ".join(f"{largest_bend(flexible_run(name)):.1%} of what sticks out in {name}" for name in ROBOTS)
    slides = flexible_run("C_RPb")
    when = " and ".join(f"{float(slides.time[k]):.2f} s" for k in changes(slides))
    caption = f"""Figure 6: flexural displacement and slope at the end of link 2. In the paper's model the displacement
        reaches {reach}; at {when} the element in the guide of C_RPb changes."""
    page.figure("figure_6", curves(panels, columns=2), " ".join(caption.split()))


def trajectories(page: Page) -> None:
    ways = {f"{name}: {axis} (m)": beside_each_other(name, f"tip.{axis}") for name in ROBOTS for axis in "xy"}
    page.figure("figures_7_8", curves(ways, columns=2), "Figures 7 and 8: the end-effector along OX and OY.")
    models: dict[str, Model] = {"the paper's model": PAPER, "ours": OURS}
    apart: dict[str, Curves] = {
        f"{name}: {axis} off (mm)": {
            label: (flexible_run(name, model).time, 1000 * deviation(name, model)[:, k])
            for label, model in models.items()
        }
        for name in ROBOTS
        for k, axis in enumerate("xy")
    }
    page.figure(
        "figure_9", curves(apart, columns=2), "Figure 9: end-effector of the flexible robot minus the rigid one's."
    )
    for name, times, magnify, columns in (("C_PaR", (0, 0.35, 10), 2.0, 3), ("C_RPb", (0, 0.5, 20), 5.0, 1)):
        picture = poses(flexible_run(name), rigid_run(name), times, magnify, columns)
        page.figure(
            f"trajectory_{name}",
            picture,
            f"{name} in the paper's model at three times, deflections {magnify:g} times larger than life; the open box "
            f"is the {'slide' if name == 'C_PaR' else 'guide'}.",
        )


def statements(page: Page) -> None:
    apart = {name: 1000 * np.abs(deviation(name)).max() for name in ROBOTS}
    left = {name: momentum_left(flexible_run(name)) for name in ROBOTS}
    density = {name: RHO * SECTIONS[name].at(0.0).A for name in ROBOTS}
    kept = f"""the inputs are not printed, and here they are chosen to end then, because of this sentence; so chosen,
        the momentum at joint 1 stays zero to {left["C_PaR"]:.0e} (C_PaR) and {left["C_RPb"]:.0e} (C_RPb) of its peak.
        Figure 4 would decide"""
    page.statements(
        [
            (
                "the trajectories of flexible and rigid robots deviate",
                f"by up to {apart['C_PaR']:.0f} mm (C_PaR) and {apart['C_RPb']:.0f} mm (C_RPb)",
                min(apart.values()) > 1,
            ),
            ("after 0.5 s, the behaviour depends mainly on inertia", kept, None),
            (
                "link 2 has 0.942 and 0.35 kg/m",
                f"density times area: {density['C_PaR']:.3f} and {density['C_RPb']:.3f} kg/m",
                abs(density["C_PaR"] - 0.942) < 5e-4 and abs(density["C_RPb"] - 0.35) < 5e-3,
            ),
        ]
    )


def what_the_changes_do(page: Page) -> None:
    page.heading("From the paper's model to ours")
    rows = []
    for label, model in STEPS.items():
        first, second = (flexible_run(name, model) for name in ROBOTS)
        numbers = (
            f"{1000 * peak(first):.1f}",
            f"{last(first):.3f}",
            f"{1000 * peak(second):.1f}",
            f"{last(second):.3f}",
        )
        rows.append((label, *numbers))
    head = [
        "C_PaR: peak displacement (mm)",
        "theta_2 at 10 s (rad)",
        "C_RPb: peak displacement (mm)",
        "d_2 at 20 s (m)",
    ]
    page.table(["one change after the other", *head], rows)
    page.text(f"""
        C_PaR has no guide, so its second row is its first. The rigid C_RPb ends at d_2 =
        {last(rigid_run("C_RPb")):.3f} m. Which way a vibrating link creeps through its guide is decided by how it is
        held; how far, by damping.
    """)


def number_of_elements(page: Page) -> None:
    page.heading("How many elements?")
    shapes = {f"{count} element{'s' * (count > 1)}": elements(count) for count in (1, 2, 3, 5)}
    shapes |= {"4 modes": modes(4, "none"), "4 modes, bent links are shorter": modes(4, "exact")}
    rows = [[label] for label in shapes]
    for damping in (0.0, OURS.damping):
        model = Model(damping=damping)
        fine = moved("C_PaR", c_par(model, elements(10)), FIRST)
        for row, flexible in zip(rows, shapes.values(), strict=True):
            row += _off(moved("C_PaR", c_par(model, flexible), FIRST), fine)
    head = ["end-effector off (mm)", "flexural displacement off (mm)"]
    damped = f"{1000 * OURS.damping:g} ms"
    labels = [f"{each}, {kind}" for kind in ("undamped", damped) for each in head]
    page.table(["link 2 of C_PaR", *labels], rows)
    page.text(f"""
        The largest differences from ten elements during the first {FIRST:g} s. With a damping of {damped} the paper's
        three elements serve well; what its model leaves out, that bent links are shorter (last row), matters more.
        Without damping, as the paper has it, neither three elements nor five give the flexural displacement: a torque
        that jumps excites all modes, also those that a mesh has only badly, and they stay.
    """)


def _off(run: fa.Run, fine: fa.Run) -> list[str]:
    tip, bend = float(np.abs(run.tip - fine.tip).max()), float(np.abs(flexural(run) - flexural(fine)).max())
    return [f"{1000 * tip:.2f}", f"{1000 * bend:.2f}"]
