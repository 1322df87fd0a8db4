"""Section 4.1: a beam spun up by its joint, without and with dynamic stiffening (figures 3-5)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import pi
from typing import TYPE_CHECKING, Literal

import flexarm as fa
from flexarm.plotting.style import Picture
from flexarm_papers import drawings
from flexarm_papers.figures import Curves, curves
from flexarm_papers.page import Page
from flexarm_papers.runs import simulate

if TYPE_CHECKING:
    import xarray as xr

SPEEDS = (0.6, 2.0, 3.0, 8.0, 10.0)  # rad/s, the paper's
BETWEEN = (1.0, 1.5, 2.5, 2.75, 2.9, 3.25, 3.5, 4.0, 5.0, 6.0, 7.0)  # rad/s: what happens near the first frequency
SPIN_UP = 15.0  # s
MODELS: dict[str, Literal["none", "shortening"]] = {"zero-order": "none", "high-order": "shortening"}
Runs = Mapping[float, fa.Run]  # by speed

# Peaks of the tip's deflection (m) by Galerkin solutions of high order, independent of flexarm: linear theory with
# centrifugal stiffening, geometrically nonlinear inextensible beam, linear theory without stiffening where bounded.
LINEAR = {0.6: -0.0855431, 2.0: -0.2802450, 3.0: -0.4115490, 8.0: -0.9356210, 10.0: -1.0882513}
NONLINEAR = {0.6: -0.0855394, 2.0: -0.2801192, 3.0: -0.4111629, 8.0: -0.9319832, 10.0: -1.0830201}
ZERO_ORDER = {0.6: -0.0865474, 2.0: -0.343153}


def spun_up(speed: float, model: str, modes: int = 8, rtol: float = 1e-6, native: bool = True) -> fa.Run:
    """The beam brought to a speed (rad/s) in 15 s and observed for 5 s more; it may run away before that."""
    beam = fa.library.rotating_beam(modes, MODELS[model])
    motion = {"beam": fa.spin_up(speed, SPIN_UP)}
    with warnings.catch_warnings():  # that the zero-order model runs away is what is to be seen
        warnings.simplefilter("ignore", fa.ValidityWarning)
        return simulate(beam, SPIN_UP + 5.0, motion=motion, rtol=rtol, native=native)


def bending(run: fa.Run) -> xr.DataArray:
    """Deflection of the beam's tip in its root frame (m)."""
    return run.deflection("beam").sel(axis="y")


def peak(run: fa.Run) -> float:
    return float(bending(run).min())


def ringing(run: fa.Run) -> float:
    """The largest deflection once the beam has its speed (m)."""
    return float(abs(bending(run).sel(time=slice(SPIN_UP, None))).max())


def runs_away(run: fa.Run) -> bool:
    return run.reason.startswith("diverged")


def first_frequency() -> float:
    """First bending frequency of the beam at rest, its joint held (Hz)."""
    return float(fa.modes(fa.library.rotating_beam(), joints="locked").frequencies[0])


# --- the page ---


def spin_up(page: Page) -> None:
    zero = {speed: spun_up(speed, "zero-order") for speed in SPEEDS}
    high = {speed: spun_up(speed, "high-order") for speed in sorted((*SPEEDS, *BETWEEN))}
    page.heading("4.1 A beam spun up by its joint")
    page.text(
        f"""
        A beam of 8 m is brought to a speed omega_0 within T = {SPIN_UP:g} s, smoothly, and then keeps it. The joint
        follows the prescribed angle theta(t) exactly; there is no gravity. The zero-order model leaves out that a bent
        beam is shorter along its axis; the high-order model counts it.
        """
    )
    page.figure(
        "beam",
        drawings.rotating_beam(),
        "The rotating beam: its root turns by theta(t), prescribed; u_y is the deflection of the tip from the line "
        "that leaves the root straight on.",
    )
    tell_choices(page, high)
    show_spinning(page, zero, high)
    tell_peaks(page, zero, high)
    tell_of_spinning(page, zero, high)
    for speed in SPEEDS:
        page.data(f"spin_up_{speed:g}_zero-order", zero[speed])
        page.data(f"spin_up_{speed:g}_high-order", high[speed])


def tell_choices(page: Page, high: Runs) -> None:
    more = max(abs(peak(spun_up(speed, "high-order", modes=12)) / peak(high[speed]) - 1) for speed in SPEEDS)
    law = "rate omega_0/T (t - T/(2 pi) sin(2 pi t/T)), then omega_0"
    page.chosen(
        [
            (
                "the formula of the rotation",
                law,
                "the smooth law that is common for this test; T and omega_0 are given",
            ),
            ("number of shapes", "8 bending modes", f"twelve change the peaks by {more:.0e} of themselves at most"),
            ("end of the run", f"{SPIN_UP + 5:g} s", "5 s at full speed show what keeps ringing"),
            ("damping", "none", "not mentioned"),
        ]
    )
    page.changed(
        [
            (
                "Adams' predictor and corrector",
                "implicit steps of order 5 with error control",
                "the same equations; errors are kept to 1e-6 of the length",
            )
        ]
    )


def show_spinning(page: Page, zero: Runs, high: Runs) -> None:
    end = {speed: float(run.time[-1]) for speed, run in zero.items()}
    at_speed = float(bending(zero[3.0]).interp(time=SPIN_UP))
    page.figure(
        "figure_3",
        spin_figure(zero, high, (0.6, 2.0)),
        "For figure 3: deflection of the tip at low speeds. Both models stay bounded; without stiffening the beam "
        "bends further.",
    )
    page.figure(
        "figure_4",
        spin_figure(zero, high, (3.0,), deepest=-1.5),
        f"For figure 4: just above the first frequency. The zero-order model runs away ({at_speed:.2f} m at "
        f"{SPIN_UP:g} s; its run ends at {end[3.0]:.1f} s); the high-order model comes back to zero.",
    )
    page.figure(
        "figure_5",
        spin_figure(zero, high, (8.0, 10.0), deepest=-3.0),
        f"For figure 5: the zero-order model runs away while the beam still speeds up; its runs end at {end[8.0]:.2f} "
        f"and {end[10.0]:.2f} s.",
    )


def spin_figure(zero: Runs, high: Runs, speeds: Iterable[float], deepest: float | None = None) -> Picture:
    """Tip deflection in one panel for each speed; what runs away is followed down to `deepest` (m)."""
    panels: dict[str, Curves] = {}
    for speed in speeds:
        runs = {"zero-order": zero[speed], "high-order": high[speed]}
        panels[f"$u_y$ (m) at\n{speed:g} rad/s"] = {k: (run.time, bending(run)) for k, run in runs.items()}
    figure = curves(panels)
    if deepest is not None:
        for plot in figure.axes:
            plot.set_ylim(deepest, -0.15 * deepest)
            plot.set_xlim(0, SPIN_UP + 5)
    return figure


def tell_peaks(page: Page, zero: Runs, high: Runs) -> None:
    linear, nonlinear = (
        max(abs(peak(high[speed]) / exact - 1) for speed, exact in reference.items())
        for reference in (LINEAR, NONLINEAR)
    )
    page.text(
        f"""
        The peaks beside solutions that were computed independently of flexarm: linear theory with centrifugal
        stiffening, a geometrically nonlinear inextensible beam, and linear theory without stiffening. The high-order
        model is within {100 * linear:.2f} % of the first and {100 * nonlinear:.2f} % of the second.
        """
    )
    rows = []
    for speed in SPEEDS:
        bounded = "runs away" if runs_away(zero[speed]) else f"{peak(zero[speed]):.6f}"
        reference = f"{ZERO_ORDER[speed]:.6f}" if speed in ZERO_ORDER else "runs away"
        stiffened = [f"{value:.6f}" for value in (peak(high[speed]), LINEAR[speed], NONLINEAR[speed])]
        rows.append([f"{speed:g}", *stiffened, bounded, reference])
    head = ["high-order (m)", "linear (m)", "nonlinear (m)", "zero-order (m)", "not stiffened (m)"]
    page.table(["omega_0 (rad/s)", *head], rows)


def tell_of_spinning(page: Page, zero: Runs, high: Runs) -> None:
    frequency = first_frequency()
    page.figure(
        "peaks",
        peaks_figure(high, 2 * pi * frequency),
        "The high-order model against the speed: the peak of the deflection while the beam speeds up, and what rings "
        f"on after {SPIN_UP:g} s. The dotted line is the first bending frequency at rest; neither "
        "curve has a maximum there.",
    )
    apart = [float(abs(bending(zero[w]) - bending(high[w])).max()) / abs(peak(high[w])) for w in (0.6, 2.0)]
    away = [speed for speed in SPEEDS if runs_away(zero[speed])]
    bounded = sum(not runs_away(high[speed]) for speed in SPEEDS)
    growth = [peak(high[3.0]) / peak(high[speed]) for speed in (0.6, 2.0)]
    speeds = [speed for speed in sorted(high) if 2.0 <= speed <= 4.0]
    smooth = all(peak(high[a]) / a < peak(high[b]) / b < 0 for a, b in pairwise(speeds))
    rings = [ringing(high[speed]) for speed in speeds]
    rising = all(a < b for a, b in pairwise(rings))
    diverge = f"it runs away at {', '.join(f'{speed:g}' for speed in away)} rad/s only"
    through = (
        f"from 2 to 4 rad/s the peak grows a little less than the speed, from {-100 * peak(high[2.0]) / 2:.1f} to "
        f"{-100 * peak(high[4.0]) / 4:.1f} cm per rad/s, and the ringing from {1000 * rings[0]:.1f} to "
        f"{1000 * rings[-1]:.1f} mm, both without a maximum in between"
    )
    page.statements(
        [
            (
                "the first bending frequency is 0.464 Hz",
                f"{frequency:.5f} Hz, that is {2 * pi * frequency:.4f} rad/s",
                abs(frequency - 0.464) < 1e-3,
            ),
            (
                "at 0.6 and 2 rad/s there is an obvious difference between the models, larger with the speed",
                f"by {100 * apart[0]:.1f} and {100 * apart[1]:.1f} % of the peak",
                0.01 < apart[0] < apart[1],
            ),
            ("at 3, 8 and 10 rad/s the zero-order model diverges", diverge, away == [3.0, 8.0, 10.0]),
            (
                "dynamic stiffening cannot be neglected",
                f"without it the model runs away at {len(away)} of {len(SPEEDS)} speeds",
                bool(away),
            ),
            ("the high-order model converges", f"at {bounded} of {len(SPEEDS)} speeds", bounded == len(SPEEDS)),
            (
                "at 3 rad/s the amplitude of the tip is much higher",
                f"{growth[1]:.2f} times that at 2 rad/s and {growth[0]:.1f} times that at 0.6 rad/s",
                growth[1] > 1.2,
            ),
            (
                "at 3 rad/s, closing to the first frequency, it is aroused (read as: because of that)",
                through,
                not (smooth and rising),
            ),
        ]
    )
    page.text(
        f"""
        All inputs of this example but the formula of the rotation are printed, so the last statement can be judged: the
        amplitude is as much higher as the speed, there is no resonance. A steady rotation excites nothing at its own
        frequency, and the rotation itself raises the beam's frequency; {2 * pi * frequency:.3f} rad/s matters in
        another way: it is the speed above which the zero-order beam is unstable, its centrifugal force being stronger
        than its stiffness.
        """
    )


def peaks_figure(high: Runs, first: float) -> Picture:
    """Peak and ringing against the speed; the first frequency at rest (rad/s) is marked."""
    speeds = sorted(high)
    figure = curves(
        {
            "peak of $|u_y|$ (m)": {"high-order": (speeds, [-peak(high[speed]) for speed in speeds])},
            f"ringing after\n{SPIN_UP:g} s (mm)": {
                "high-order": (speeds, [1000 * ringing(high[speed]) for speed in speeds])
            },
        },
        xlabel=r"$\omega_0$ (rad/s)",
    )
    for plot in figure.axes:
        plot.axvline(first, color="0.4", linestyle=":", linewidth=1.2)
        plot.lines[0].set_marker("o")
        plot.lines[0].set_markersize(4)
        plot.set_ylim(bottom=0)
    return figure
