"""Section 4.2: the Canadarm2 drops, its motors free (figure 8), on rotors of different inertia (figures 9-13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import flexarm as fa
from flexarm.plotting.animate import Snapshots
from flexarm.plotting.style import Picture, draw_grid
from flexarm_papers import drawings
from flexarm_papers.figures import Curves, curves
from flexarm_papers.page import Page
from flexarm_papers.spatial import canadarm
from flexarm_papers.spatial.canadarm import DROP, ROTOR_INERTIAS, TENTH, WHIP, canadarm2, dropped

if TYPE_CHECKING:
    import xarray as xr

    from flexarm.foundation.validation import Array

POSES = (0.0, 1.0, 1.5, 1.8, 2.1, 2.4, 2.7, 3.0)  # s

# --- the drop ---


def dropping(page: Page) -> None:
    page.heading("4.2 The Canadarm2 drops in the field of gravity")
    links = canadarm2().links
    page.figure(
        "canadarm2",
        drawings.canadarm2(canadarm.BOOM, canadarm.OFFSET, (links[2].length, links[3].length, links[4].length)),
        "The arm as it is let go, not to scale: two flexible booms (thin), the second beside the first, and three "
        "rigid links of the wrist (thick, lengths in m); chain lines are the axes of the joints, arrows positive "
        "turns. Each joint has a rotor and a spring.",
    )
    tell_choices(page)
    run = dropped(canadarm2())
    page.data("drop", run)
    page.figure(
        "figure_8",
        poses(run),
        "For figure 8: the arm at eight times, dark to light, from the side and from the front; circles are joints, "
        "the thin line is the way of the tip. It drops from rest, is stretched out near 2 s and whips through.",
    )
    full = canadarm.tip_apart(run, dropped(canadarm.every_order(canadarm2())))
    stretch = run.deflection("upper").sel(axis="x").max()
    tube = canadarm.YOUNG * canadarm2().links[0].beam_mass / canadarm.BOOM / canadarm.DENSITY  # N
    balance = abs(run.data["balance"]).max() / run.data["kinetic"].max()
    rigid_booms = dropped(canadarm2().rigid())
    stiff_joints = dropped(canadarm.without_springs(canadarm2()))
    springs, booms = (canadarm.tip_apart(stiff_joints, each) for each in (run, rigid_booms))
    moved, bent = {}, {}
    for label, change in MODELS.items():
        arm = change(canadarm2())
        moved[label] = float(canadarm.tip_apart(dropped(canadarm.without_springs(arm)), rigid_booms).max())
        bent[label] = float(abs(canadarm.held(arm).deflection("upper").sel(axis="y")).max())
    page.text(
        f"""
        Five joints, five rotors and twice twelve modes: {len(run.data["coordinate"])} coordinates. Booms that are
        geometrically exact, not complete to second order only (`stiffening="exact"`), move the tip by at most
        {1000 * float(full.max()):.1f} mm within {DROP:g} s; energy is conserved to {float(balance):.0e} of the largest
        kinetic energy. With the printed EA the booms are soft along their axis: at the whip the upper one stretches by
        {1000 * float(stretch):.0f} mm. As much aluminium as the boom's mass would be {tube / canadarm.EA:.0f}
        times as stiff.
        """
    )
    page.text(
        """
        The paper's own model of the booms, first order plus foreshortening, is not available for spatial robots. The
        statement is therefore evaluated with three models: zero order (`stiffening="none"`, fewer terms than the
        paper's), second order (more terms), and exact. It holds only if it holds in all three.
        """
    )
    page.statements(
        [
            (
                "the flexibility of the links is significant to the response",
                f"on joints without springs, rigid booms take the tip elsewhere by "
                f"{100 * float(booms.sel(time=WHIP, method='nearest')):.0f} cm at {WHIP:g} s and by up to "
                f"{_by_model(moved, '.1f')} m within {DROP:g} s (the springs by {1000 * float(springs.max()):.0f} mm); "
                f"if the motors are held, the upper boom bends by up to {_by_model(bent, '.2f')} m",
                min(*moved.values(), *bent.values()) > 0.01 * reach(),
            )
        ]
    )


def _unchanged(arm: fa.Robot) -> fa.Robot:
    """Return the arm itself, with booms complete to second order."""
    return arm


MODELS = {"zero order": canadarm.zero_order, "second order": _unchanged, "exact": canadarm.every_order}


def _by_model(sizes: dict[str, float], digits: str) -> str:
    """Format a size by the model of the booms."""
    return ", ".join(f"{size:{digits}} ({label})" for label, size in sizes.items())


def reach() -> float:
    """Of the arm stretched out (m)."""
    return sum(link.length for link in canadarm2().links)


def tell_choices(page: Page) -> None:
    masses = "booms of 314.88 and 279.2 kg; wrist of 0.5692, 0.7026, 1.3589 m with 105.98, 105.98, 243.66 kg"
    links = f"{masses}; booms {canadarm.BOOM} m long, wrist {canadarm.WRIST_DIAMETER} m thick"
    published = "published for the Space Station's arm (Nguyen and Hughes, 1994); its upper boom has the printed J_x"
    axes = "shoulder, elbow and wrist pitch parallel and level, then yaw and roll; 9.81 m/s^2"
    plane = "the arm drops in its plane; the offset between the booms twists and bends them out of it"
    twist = 2 * canadarm.EI / canadarm.YOUNG * canadarm.SHEAR
    page.text("Table 1 and figures 6 and 7, which show the arm, were not at hand.")
    page.chosen(
        [
            ("links, masses, lengths", links, published),
            ("E and GJ", f"E = {canadarm.YOUNG:g} Pa, GJ = {twist:.4g} N m^2", "aluminium; a round section"),
            ("axes and gravity", axes, plane),
            (
                "what the motors do",
                "free: no torque, no damping; held in the last section",
                "an arm that drops has no torques at its joints; figures 9-13 change with the rotors, so they move",
            ),
            (
                "J_r n = 2 ... 15",
                "J_r n^2 in kg m^2: the rotor as the joint feels it",
                "only that enters the equations",
            ),
            ("joint stiffness in N/mm", "the numbers in N m/rad", "the spring is torsional; see the end of the page"),
            ("the other parameter", "10 kg m^2 in figures 14-18, 2.66e6 N m/rad in figures 8-13", "in the middle"),
            ("duration", f"{DROP:g} s", "the drop, the whip and what follows"),
        ]
    )
    page.changed(
        [
            (
                "high-order terms: a bent link is shorter along its axis",
                "links complete to second order: also what bending in two planes and twist do together",
                "a round boom must not care how it is rolled about its axis",
            ),
            (
                "Adams' predictor and corrector",
                "Dormand and Prince's method of order 5, tolerance 1e-7",
                "rotors tremble on their springs by hundredths of a milliradian at some 100 Hz",
            ),
        ]
    )


def poses(run: fa.Run) -> Picture:
    """The arm at some times in the plane of its drop and from the front, the way of its tip."""
    from matplotlib import colormaps

    moments, times = Snapshots(run), np.array(POSES)
    drawn, (_, way) = moments.arm(times), moments.tip_path(times)
    points = np.concatenate([*drawn.links.values()], axis=1)  # (time, point, axis)
    low, high = (edge(np.concatenate([points.reshape(-1, 3), way]), axis=0) for edge in (np.min, np.max))
    figure = Picture(figsize=(8.4, 6.0))
    plots: Any = figure.subplots(1, 2, sharey=True, width_ratios=[high[0] - low[0] + 4.6, 5.0])
    shades = colormaps["viridis"](np.linspace(0.0, 0.82, len(times)))
    for plot, across in zip(plots, (0, 1)):
        plot.plot(way[:, across], way[:, 2], color="#d1495b", linewidth=1.0, zorder=1)
        for k, shade in enumerate(shades):
            plot.plot(points[k, :, across], points[k, :, 2], color=shade, linewidth=2.4, zorder=2)
            joints = drawn.hinges[k]
            plot.plot(joints[:, across], joints[:, 2], "o", markersize=4.5, mfc="white", mec=shade, zorder=3)
        plot.set_aspect("equal")
        plot.set_xlabel(f"{'xyz'[across]} (m)")
        draw_grid(plot)
    plots[0].set_ylabel("z (m)")
    plots[0].set_title("from the side", fontsize=10)
    plots[1].set_title("from the front", fontsize=10)
    plots[0].set_xlim(low[0] - 2.0, high[0] + 2.6)
    plots[1].set_xlim(-2.5, 2.5)
    plots[0].set_ylim(low[2] - 1.2, high[2] + 0.8)
    for k, (time, shade) in enumerate(zip(times, shades)):
        tip, before = points[k, -1], points[k, -2]
        way_out = (tip - before)[[0, 2]] / np.linalg.norm((tip - before)[[0, 2]])
        plots[0].annotate(
            f"{time:g} s",
            tip[[0, 2]],
            xytext=20 * way_out,
            textcoords="offset points",
            ha="center",
            va="center",
            color=shade,
            fontsize=10,
            fontweight="bold",
        )
    return figure


# --- rotors ---


def rotor_inertia(page: Page) -> None:
    data = canadarm.by(
        "rotor_inertia", {J: canadarm.first_link(dropped(canadarm2(rotor_inertia=J))) for J in ROTOR_INERTIAS}
    )
    page.data("rotor_inertia", data)
    page.heading("Rotor inertia")
    page.figure(
        "figure_9",
        wind_up_figure(data),
        "For figure 9: torsional angle of the first joint on rotors of four inertias; above in the first tenth of a "
        "second, below its largest size in each tenth.",
    )
    lightest, heaviest = ROTOR_INERTIAS[0], ROTOR_INERTIAS[-1]
    page.figure(
        "figures_10_13",
        first_link_figure(data.sel(rotor_inertia=[lightest, heaviest])),
        f"For figures 10-13: stretch u_x, bending v_y in the arm's plane and w_z out of it, and twist theta_x at the "
        f"first link's tip, on the lightest and on the heaviest rotors; left until {WHIP:g} s, "
        "right the whip and after it.",
    )
    names = {
        "epsilon": "epsilon_1 (mrad)",
        "u": "u_x (mm)",
        "v": "v_y (mm)",
        "w": "w_z (mm)",
        "theta": "theta_x (mrad)",
    }
    spans = {f"until {WHIP:g} s": data.sel(time=slice(0.0, WHIP)), f"until {DROP:g} s": data}
    largest = {span: 1e3 * abs(part).max("time") for span, part in spans.items()}
    page.text(f"Largest sizes {', and '.join(spans)}:")
    page.table(
        ["J_r n^2 (kg m^2)", *names.values()],
        [
            (f"{J:g}", *(", ".join(f"{float(sizes[name][k]):.3g}" for sizes in largest.values()) for name in names))
            for k, J in enumerate(ROTOR_INERTIAS)
        ],
    )
    grows = {span: [n for n in names if bool((np.diff(sizes[n]) > 0).all())] for span, sizes in largest.items()}
    wound = {label: _wind_up_by_rotor(change) for label, change in MODELS.items()}
    times = "; ".join(
        f"{label}: " + " and ".join(f"{sizes[-1] / sizes[0]:.1f} times {span}" for span, sizes in zip(spans, found))
        for label, found in wound.items()
    )
    links = [
        f"{span} {_listed([names[n].split()[0] for n in grown if n != 'epsilon'])}" for span, grown in grows.items()
    ]
    page.statements(
        [
            (
                "the larger the joint's mass (here: the rotors' inertia), the larger the joint angles of motion (here: "
                "the torsional angle of the first joint, which figure 9 shows)",
                f"from the lightest to the heaviest rotor, by the model of the booms: {times}",
                all(bool((np.diff(sizes) > 0).all()) for found in wound.values() for sizes in found),
            ),
            (
                "the same is seen of the deformations of the first link",
                f"those that grow with every step are {', '.join(links)}; the others rise and fall. It depends on "
                " the masses, on the duration and on whether torques act, which are chosen here: Table 1 and the "
                "curves of figures 10-13 would decide it",
                None,
            ),
        ]
    )


def _wind_up_by_rotor(change: Callable[[fa.Robot], fa.Robot]) -> list[Array]:
    """Return the largest torsional angle of the first joint (rad) for each rotor, until WHIP and until DROP."""
    angles = [canadarm.wind_up(dropped(change(canadarm2(rotor_inertia=J))), "upper") for J in ROTOR_INERTIAS]
    return [np.array([float(abs(each.sel(time=slice(0.0, end))).max()) for each in angles]) for end in (WHIP, DROP)]


def _listed(names: list[str]) -> str:
    return "none" if not names else " and ".join(names)


def each_rotor(values: xr.DataArray) -> Curves:
    """A curve for each inertia of the rotors."""
    inertias = values["rotor_inertia"].values
    return {f"{J:g} kg m$^2$": (values.time, values.sel(rotor_inertia=J)) for J in inertias}


def wind_up_figure(data: xr.Dataset) -> Picture:
    """The first joint's torsional angle in the first tenth of a second, and its largest size in each."""
    angle = 1e3 * data["epsilon"]
    early = angle.sel(time=slice(0.0, TENTH))
    largest = each_rotor(canadarm.envelope(angle))
    figure = curves({r"$\epsilon_1$ (mrad)": each_rotor(early), "largest $|\\epsilon_1|$\nin 0.1 s (mrad)": largest})
    figure.axes[1].set_yscale("log")
    return figure


def first_link_figure(data: xr.Dataset) -> Picture:
    """Before the whip on the left, whip and after on the right, where the deformations are far larger."""
    panels = {}
    for name, title in {"u": "$u_x$ (mm)", "v": "$v_y$ (mm)", "w": "$w_z$ (mm)", "theta": r"$\theta_x$ (mrad)"}.items():
        panels[title] = each_rotor(1e3 * data[name].sel(time=slice(0.0, WHIP)))
        panels[f"{title} "] = each_rotor(1e3 * data[name].sel(time=slice(WHIP, DROP)))
    return curves(panels, columns=2)
