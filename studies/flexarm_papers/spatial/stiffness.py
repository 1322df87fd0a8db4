"""Section 4.2: the Canadarm2 on joints of different stiffness (figures 14-18), its motors free, and held."""

from __future__ import annotations

from typing import TYPE_CHECKING

import flexarm as fa
from flexarm.plotting.style import Picture
from flexarm_papers.figures import Curves, curves
from flexarm_papers.page import Page
from flexarm_papers.spatial import canadarm
from flexarm_papers.spatial.canadarm import DROP, JOINTS, STIFFNESSES, canadarm2, dropped, held, tip_apart
from flexarm_papers.spatial.drop import reach

if TYPE_CHECKING:
    import xarray as xr

Runs = dict[float, fa.Run]  # by stiffness

AFTER = 1.0  # s: a quarter of a swing of the held arm on its softest springs


def joint_stiffness(page: Page) -> None:
    """Both with one set of statements: what the motors do decides them."""
    free = {K: dropped(canadarm2(joint_stiffness=K)) for K in STIFFNESSES}
    page.heading("Joint stiffness, motors free")
    tell_free(page, free)
    still = {K: held(canadarm2(joint_stiffness=K)) for K in STIFFNESSES}
    page.heading("Joint stiffness, motors held")
    tell_held(page, free, still)


def tell_free(page: Page, free: Runs) -> None:
    soft = dropped(canadarm2(joint_stiffness=STIFFNESSES[0] / 1000))
    data = canadarm.by("stiffness", {K: canadarm.joint_angles(run) for K, run in free.items()})
    page.data("joint_stiffness", data)
    page.figure(
        "figures_14_18",
        joint_angle_figure(data),
        "For figures 14-18: left the angles q_21 to q_25 of the joints on the links' side, where the four curves lie "
        "on each other; right by how much they differ from those on the stiffest joints, the largest difference in "
        "each tenth of a second.",
    )
    tell_changes(page, data, canadarm.joint_angles(soft))
    torque = max(K * float(abs(canadarm.wind_up(run, "upper")).max()) for K, run in free.items())
    weight = float(fa.System(canadarm2(), native=False).gravity(canadarm.start(canadarm2()))[0])
    page.text(
        f"""
        The angles change more than the tip, since the booms shake and the heavy wrist hardly does. A free motor winds
        up its spring by no more than its own inertia asks for: up to {torque / 1000:.1f} kN m at the shoulder, where
        the arm's weight turns with {weight / 1000:.0f} kN m at first. So a drop tells little about the joints'
        stiffness. On springs a thousand times as soft as the softest (were N mm/rad meant) the tip strays by
        {float(tip_apart(soft, free[STIFFNESSES[-1]]).max()):.2f} m.
        """
    )


def tell_changes(page: Page, data: xr.Dataset, soft: xr.Dataset) -> None:
    """How the joints' angles depend on the springs."""
    stiffest = data.isel(stiffness=-1)
    turn, change, softest = stiffest.max() - stiffest.min(), abs(data - stiffest).max(), abs(soft - stiffest).max()
    page.text("How far each joint turns, and how much that changes over the four stiffnesses:")
    rows = []
    for link, joint in JOINTS.items():
        rows.append([joint, f"{turn[link]:.3g}", f"{1000 * change[link]:.2g}", f"{1000 * softest[link]:.3g}"])
    soft_joint = f"with {STIFFNESSES[0] / 1000:g} N m/rad (mrad)"
    page.table(["joint", "turns by (rad)", "changes by (mrad)", soft_joint], rows)


def tell_held(page: Page, free: Runs, still: Runs) -> None:
    page.data("motors_held", canadarm.by("stiffness", {K: canadarm.joint_angles(run) for K, run in still.items()}))
    page.text(
        """
        The same arm from the same start, but the motors stay where they are: the arm does not drop, it sags and swings
        on its springs and booms.
        """
    )
    page.figure(
        "motors_held",
        tips_figure(free, still),
        "Height of the tip on joints of four stiffnesses; above with free motors, where the curves lie on each other, "
        "in the middle with held ones. Below: how far the tips on the softest and on the stiffest joints are apart.",
    )
    softest, stiffest = STIFFNESSES[0], STIFFNESSES[-1]
    frequency = {
        K: fa.modes(canadarm2(joint_stiffness=K), q=canadarm.start(canadarm2()), joints="locked") for K in STIFFNESSES
    }
    rest = {K: canadarm.held_at_rest(canadarm2(joint_stiffness=K)) for K in STIFFNESSES}
    page.table(
        [
            "joint stiffness (N m/rad)",
            "lowest frequency (Hz)",
            "lowest height of the tip (m)",
            "at rest it hangs at (m)",
        ],
        [
            (
                f"{K:.3g}",
                f"{frequency[K].frequencies[0]:.3f}",
                f"{float(still[K].tip.sel(axis='z').min()):.2f}",
                f"{rest[K][2]:.2f}",
            )
            for K in STIFFNESSES
        ],
    )
    dropping, hanging = (tip_apart(runs[softest], runs[stiffest]) for runs in (free, still))
    moved, early, late = float(dropping.max()), float(hanging.sel(time=AFTER, method="nearest")), float(hanging.max())
    sag = float(((rest[softest] - rest[stiffest]) ** 2).sum() ** 0.5)
    found = (
        f"from softest to stiffest joints the tip moves by {1000 * moved:.1f} mm ({100 * moved / reach():.1g} % of the "
        f"reach) in {DROP:g} s if the motors are free; if they are held, by {early:.2f} m after {AFTER:g} s, by up to "
        f"{late:.2f} m within {DROP:g} s, and by {sag:.2f} m once at rest. What the motors do in figures 14-18 "
        "(torques, a controller, free or held), or the curves themselves, would decide it"
    )
    page.statements([("the effects of flexible joints are significant to the response", found, None)])
    page.text(
        """
        Held motors cannot have been what figures 9-13 show: the rotors' inertia plays no part then, and these figures
        change with it. But free ones are only one way to let the rotors move, and the paper does not say whether its
        torques tau_i are zero. The range of stiffness is printed in N/mm, which is not a unit of a torsional spring;
        that, too, is open.
        """
    )


def each_spring(values: xr.DataArray) -> Curves:
    """A curve for each stiffness of the joints."""
    return {spring(K): (values.time, values.sel(stiffness=K)) for K in STIFFNESSES}


def spring(K: float) -> str:
    return f"{K / 1e6:.2f} MN m/rad"


def joint_angle_figure(data: xr.Dataset) -> Picture:
    """Angles on the left, and on the right by how much they differ from those on the stiffest joints."""
    panels = {}
    for number, link in enumerate(JOINTS, 1):
        angle, symbol = data[link], f"$q_{{2{number}}}$"
        panels[f"{JOINTS[link]},\n{symbol} (rad)"] = each_spring(angle)
        change = canadarm.envelope(1e3 * (angle - angle.isel(stiffness=-1)))
        panels[f"change of\n{symbol} (mrad)"] = each_spring(change.where(change > 0))
    figure = curves(panels, columns=2)
    for plot in figure.axes[1::2]:
        plot.set_yscale("log")
    return figure


def tips_figure(free: Runs, still: Runs) -> Picture:
    """Heights of the tip with free and with held motors, and distances between softest and stiffest."""
    panels: dict[str, Curves] = {}
    for label, runs in (("motors free:\n$z$ of the tip (m)", free), ("motors held:\n$z$ of the tip (m)", still)):
        panels[label] = {spring(K): (run.time, run.tip.sel(axis="z")) for K, run in runs.items()}
    apart = {label: tip_apart(runs[STIFFNESSES[0]], runs[STIFFNESSES[-1]]) for label, runs in _kinds(free, still)}
    panels["tips apart (m)"] = {label: (values.time, values.where(values > 0)) for label, values in apart.items()}
    figure = curves(panels)
    figure.axes[2].set_yscale("log")
    figure.axes[2].set_ylim(1e-6, 20)
    return figure


def _kinds(free: Runs, still: Runs) -> list[tuple[str, Runs]]:
    return [("motors free", free), ("motors held", still)]
