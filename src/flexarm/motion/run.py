"""Run: the labelled results of a simulation, with the model, options, versions and statistics that made them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from flexarm.foundation.files import write_bytes, write_text
from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import shown, suggestion
from flexarm.motion.audit import words
from flexarm.motion.dense import INPUTS_ARE_GONE, Dense
from flexarm.motion.records import ENERGIES, Arrays, Records, joined
from flexarm.motion.series import available, named
from flexarm.robot import Robot

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

    from flexarm.analysis.decays import Decay
    from flexarm.analysis.decays import Method as DecayMethod
    from flexarm.analysis.measured import FrequencyResponse
    from flexarm.analysis.spectra import Scaling, Spectrum, Trend, Window
    from flexarm.mechanics.truncation import Truncation
    from flexarm.motion.forces import Forces
    from flexarm.show.animate import Animation
    from flexarm.studio.server import Studio

NO_STEPS = "it was made from data, or written by an earlier version, without its steps"


class Run:
    """Results over time: `run["upper.q"]`, `run.tip`, `run.energy`, `run.deflection("upper")`; all in `run.data`.

    data: a Dataset as `run.data` is; `fa.simulate` and `Run.load` make it.
    dense: the steps, with which `run.at(t)` reads it, or why there are none.
    """

    def __init__(self, data: xr.Dataset | Arrays, dense: Dense | str = NO_STEPS) -> None:
        self._records, self._dense = _records(data), dense

    # --- reading ---

    @property
    def data(self) -> xr.Dataset:
        """All results and what made them, as one labelled Dataset (made when it is first asked for)."""
        return self._records.dataset

    @data.setter
    def data(self, data: xr.Dataset) -> None:
        self._records, self._dense = _records(data), NO_STEPS

    @property
    def robot(self) -> Robot:
        return Robot.model_validate(json.loads(self._records.attrs["model"]))

    @property
    def options(self) -> dict[str, Any]:
        """How the run was asked for."""
        return dict(json.loads(self._records.attrs["options"]))

    @property
    def statistics(self) -> dict[str, Any]:
        """What the solver did."""
        return dict(json.loads(self._records.attrs["statistics"]))

    def _add_statistics(self, **more: Any) -> None:
        text = json.dumps(more, default=float)
        self._records.attrs["statistics"] = joined(self._records.attrs["statistics"], text)

    @property
    def error_estimate(self) -> float | None:
        """How far the ends of links are at most from where they should be (m); None without `verify=True`."""
        found = self.statistics.get("error_estimate")
        return None if found is None else float(found)

    @property
    def truncation(self) -> Truncation:
        """Estimated error that the number of shapes causes, and frequencies against those of twice the shapes.

        `error` is that of the tips of links, as a share of the peak deflection; `shapes` are numbers with which the
        estimate is small; `reason` is given if there is no estimate.
        """
        from flexarm.mechanics.truncation import Truncation

        found = self.statistics.get("truncation")
        return Truncation(reason="the run has no estimate") if found is None else Truncation.from_plain(found)

    @property
    def reason(self) -> str:
        """Why the run ended: `completed`, or what stopped it."""
        return str(self._records.attrs["reason"])

    @property
    def status(self) -> str:
        """How it ended: `completed`, `stopped` (by a limit or a condition), `interrupted` or `failed`."""
        return str(self._records.attrs["status"])

    @property
    def time(self) -> xr.DataArray:
        return self.data["time"]

    @property
    def tip(self) -> xr.DataArray:
        """Position of the last link's tip (time, axis)."""
        return self.data["tip"]

    @property
    def torque(self) -> xr.DataArray:
        """Torque of every actuator (time, input), that of driven joints included."""
        return self["torque"]

    @property
    def energy(self) -> xr.Dataset:
        """kinetic, elastic, gravity, drive, work, dissipated, balance."""
        return self.data[list(ENERGIES)]

    def __getitem__(self, name: str) -> xr.DataArray:
        """A quantity over time by name, one of `run.names`, or a whole variable of the data (`tip`, `q`); also strain,
        `run["fore.strain(0.1)"]`, as laws and linear models call it."""
        if isinstance(name, str) and name in self.data:
            return self.data[name]
        if isinstance(name, str) and ".strain(" in name and (found := self._forces.gauge(name)) is not None:
            return found
        self._require_inputs(name)
        return named(self.data, name).of(self.data).copy()  # what becomes of it is not the run's

    def array(self, name: str) -> Array:
        """The numbers of a whole variable by `name`, (time, ...): `time`, `q`, `v`, `a`, `tip`, `deflection`, ...

        What `run[name].values` gives, but not to be written to, without importing xarray, which takes longer than a
        short simulation.
        """
        self._require_inputs(name)
        if not isinstance(name, str) or not self._records.has(name):
            raise KeyError(f"there is no array {shown(name)} in this run{suggestion(name, self._records.names)}")
        values = self._records.values(name).view()
        values.flags.writeable = False  # they are the run's own
        return values

    def at(self, t: Any) -> Run:
        """The run at a time t (s), or at several in the order given: a Run with samples there, `run.at(0.5).tip`.

        It is read from the steps that the integration took, as exactly as the method goes; at the very time at which
        an input jumps, after the jump. Runs that were saved or copied know no torques and reactions there.
        """
        if isinstance(self._dense, str):
            raise ValueError(
                f"at: this run cannot be read between its samples: {self._dense}; run.data.interp(time=t) goes "
                "straight from sample to sample"
            )
        return Run(self._dense.at(t, self._records.attrs), self._dense)

    @property
    def continuous(self) -> bool:
        """Whether `at` can read it between its samples."""
        return not isinstance(self._dense, str)

    @property
    def jumps(self) -> Array:
        """Times (s) at which inputs may have jumped, the start among them; none of a run that `at` cannot read."""
        return np.zeros(0) if isinstance(self._dense, str) else self._dense.nodes.jumps

    @property
    def names(self) -> list[str]:
        """Names of all quantities: `upper.q`, `v.upper.q`, `a.upper.q`, `tip.x`, `deflection.upper.y`, `torque.upper`,
        `kinetic`, a recorded point's `elbow.x`, ..."""
        return list(available(self.data))

    def _require_inputs(self, name: object) -> None:
        """Say why there are no torques and reactions where there are none."""
        variable = str(name).partition(".")[0]
        if variable in ("torque", "reaction") and not self._records.has("torque"):
            raise KeyError(f"there is no {shown(name)} in this run: {INPUTS_ARE_GONE}")

    def deflection(self, link: str) -> xr.DataArray:
        """Displacement of a link's tip against the straight link (m), along the axes of its root frame (time, axis).

        Along x, a link that bends becomes shorter.
        """
        links = self.data["link"].values.tolist()
        if link not in links:
            raise KeyError(f"there is no link {shown(link)} in this run{suggestion(link, links)}")
        return self.data["deflection"].sel(link=link)

    def reaction(self, name: str, axes: Literal["joint", "world"] = "joint") -> xr.DataArray:
        """Force (N) and torque (N m) in the joint that connects the link `name` with its parent, (time, component), on
        the link, about the joint; or the forces of the constraint `name`, (time, row), or of one of its rows, (time,).

        axes: of a joint's components: those of the link's root frame, which sits right after the joint, or the world's.

        They are all that the parent does to the link, drive, friction and stops included, and as accurate as the
        accelerations of the run are. A link comes before a constraint of the same name.
        """
        return self._forces.reaction(name, axes)

    def force(self, link: str, x: Any) -> xr.DataArray:
        """Axial force (x, tension positive) and shear forces (y, z) in N across the section of a `link` at x (m from
        its root; a number or a list): (time, axis) or (time, x, axis), in the section's axes.

        It is what the outboard part does to the inboard one, from the equilibrium of what lies outboard.
        """
        return self._forces.across(link, x, slice(0, 3), "force across sections", "N")

    def moment(self, link: str, x: Any) -> xr.DataArray:
        """Torsion (x) and bending moments (about y and z) in N m across the section of a `link` at x (m from its root;
        a number or a list): (time, axis) or (time, x, axis), in the section's axes. Signs are those of GJ theta',
        -EI w'' and EI v''; values come from the equilibrium of what lies outboard, not from the shapes.
        """
        return self._forces.across(link, x, slice(3, 6), "moment across sections", "N m")

    def strain(self, link: str, x: Any, at: Sequence[float] | None = None) -> xr.DataArray:
        """Strain along a flexible link, as a strain gauge shows it.

        The same quantity as `fore.strain(0.1)` of feedback laws and linear models, and as `run["fore.strain(0.1)"]`.

        Parameters
        ----------
        link : str
            Name of the link.
        x : float or sequence of float
            Distance from the root of the link (m).
        at : (float, float), optional
            Point (y, z) of the section (m). By default the gauge is on the surface, in the plane in which the link
            bends, at positive y or z; a link that bends both ways needs `at`. On the axis, `at=(0, 0)`, bending makes
            no strain.

        Returns
        -------
        DataArray, (time,) or (time, x)
            u' - y v'' - z w'' of the shapes.
        """
        return self._forces.strain(link, x, at)

    @property
    def _forces(self) -> Forces:
        from flexarm.motion.forces import Forces

        return Forces(self._records, self._dense)

    def compare(self, other: Run) -> xr.Dataset:
        """This run minus the `other`, at this run's times: `tip` and the coordinates both have; nan beyond its end.

        Between its samples the other is read as `at` does; one without steps, straight from sample to sample.
        """
        import xarray as xr

        if not isinstance(other, Run):
            raise TypeError(f"other = {shown(other)}: must be a run, as fa.simulate gives it")
        time = self.data["time"]
        theirs = other._aligned(time)
        shared = [name for name in self.data["coordinate"].values if name in theirs["coordinate"].values]
        return xr.Dataset(
            {
                "tip": self.data["tip"] - theirs["tip"],
                "q": self.data["q"].sel(coordinate=shared) - theirs["q"].sel(coordinate=shared),
            }
        )

    def _aligned(self, time: xr.DataArray) -> xr.Dataset:
        """The data at these times, nan beyond the end."""
        if isinstance(self._dense, str):
            return self.data.interp(time=time) if self.time.size > 1 else self.data.reindex(time=time)
        if np.isin(time.values, own := self.array("time")).all():
            return self.data.sel(time=time)
        inside = time.values <= own[-1]
        return self.at(time.values[inside]).data.reindex(time=time)

    # --- figures ---

    def plot(self, *what: str, other: Run | None = None) -> Figure:
        """Joints, tip deflections, torques and energies in one figure, or chosen quantities, one panel each.

        what: `upper.q`, `v.upper.q`, `tip.x`, ...: names of `run.names`.
        other: another run beside this one, say the rigid twin's.
        """
        from flexarm.show.histories import history_figure
        from flexarm.show.runs import run_figure

        return history_figure(self, what, other) if what else run_figure(self, other)

    def plot_trajectory(
        self, times: Sequence[float] | int = 5, *, other: Run | None = None, magnify: float = 1.0
    ) -> Figure:
        """The way of the tip, in the robot's plane or in space, with the deformed arm at `times` (s, or how many).

        other: another run's way and arm in grey, say the rigid twin's.
        magnify: multiplies deflections.
        """
        from flexarm.show.trajectory import trajectory_figure

        return trajectory_figure(self, times, other, magnify)

    def plot_section_forces(self, link: str, times: Sequence[float] | int = 3) -> Figure:
        """Diagrams along a `link`: torsion, bending moments, axial and shear forces, those that there are, at the
        samples nearest to `times` (s, or how many)."""
        from flexarm.show.section_forces import section_forces_figure

        return section_forces_figure(self, link, times)

    def residual(self, name: str = "tip", *, after: float) -> float:
        """Amplitude of the vibration that is left from the time `after` (s) on: of the tip or another point (m), or of
        a quantity by name; half of how far it goes to and fro."""
        from flexarm.motion.residual import residual

        return residual(self, name, after)

    # --- what it tells ---

    def spectrum(
        self,
        name: str,
        *,
        after: float | None = None,
        before: float | None = None,
        sample: float | None = None,
        window: Window = "hann",
        scaling: Scaling = "amplitude",
        trend: Trend = "mean",
    ) -> Spectrum:
        """The spectrum of a quantity by `name` (one of `run.names`, or an output as `fa.linearize` has it: `tip.y''`)
        from the time `after` to `before` (s; the whole run unless given).

        sample: time between samples (s), that of the run unless given; what they alias is warned of.
        window, scaling, trend: as in `fa.spectrum`.
        """
        from flexarm.analysis.spectra import run_spectrum

        return run_spectrum(self, name, after, before, sample, window, scaling, trend)

    def decay(
        self,
        name: str,
        *,
        after: float,
        before: float | None = None,
        sample: float | None = None,
        modes: int = 1,
        method: DecayMethod = "matrix-pencil",
    ) -> Decay:
        """Frequencies and damping ratios of the `modes` strongest vibrations of a quantity by `name`, from the time
        `after` on, when nothing drives it any more, to `before` (s; the end unless given).

        sample: time between samples (s), that of the run unless given. method: as in `fa.decay`.
        """
        from flexarm.analysis.decays import run_decay

        return run_decay(self, name, after, before, sample, modes, method)

    def frf(
        self,
        input: str,
        output: str,
        f: Any = None,
        *,
        after: float | None = None,
        before: float | None = None,
        sample: float | None = None,
    ) -> FrequencyResponse:
        """The frequency response from an `input` (an actuator by its link, or the acceleration of a driven joint,
        `upper.q''`) to an `output` (as in `fa.linearize`), as this run tells it: to be compared with `lin.frf`.

        f: frequencies (Hz); those that the input excites unless given. It should be broad, `fa.chirp`, and small.
        after, before: the part of the run that counts (s; all unless given). It must begin at rest, and should end
        some periods after the input, so that what still vibrates can be told.
        sample: how long the pieces are in which it is integrated (s), the distance of samples unless given.
        """
        from flexarm.analysis.measured import run_frf

        return run_frf(self, input, output, f, after, before, sample)

    @overload
    def animate(self, path: None = None, **options: Any) -> Animation: ...

    @overload
    def animate(self, path: str | os.PathLike[str], **options: Any) -> None: ...

    def animate(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Animation | None:
        """The moving arm as a .gif, .mp4 (with ffmpeg) or .html file; without a path as a player for a notebook.

        options: any of those that follow.
        fps: frames a second (25).
        speed: simulated seconds for each second of the film (1).
        magnify: multiplies deflections (1).
        trace: draw the way of the tip (True).
        other: another run in grey, say the rigid twin's.
        dpi: pixels an inch; the film is 7 inches wide (100).
        progress: None shows a bar on a terminal only.
        """
        from flexarm.show.animate import Animation

        animation = Animation(self, **options)
        if path is None:
            return animation
        animation.save(path)
        return None

    def show(self, **options: Any) -> Studio:
        """The run in the browser, in the studio: played, magnified, coloured, plotted, kept.

        options: host, port and browser, as `fa.studio` has them.
        """
        from flexarm.studio.server import shown_run

        return shown_run(self, **options)

    def __repr__(self) -> str:
        t, share = self.array("time"), self.statistics.get("energy_share")
        said = f"Run of '{self._records.attrs['robot']}', {len(t)} samples to t = {t[-1]:g} s, {self.reason}"
        return f"{said}; {words(share, self.robot)}" if share else said

    # --- files ---

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write NetCDF4 at `path`, readable by xarray alone; an earlier file stays until the new one is whole."""
        from flexarm.motion.netcdf import netcdf, with_nodes

        others = "to_csv writes a table, to_dataframe() gives one to pandas"
        target = _file(path, ".nc", f"results are NetCDF; {others}")
        data = self.data if isinstance(self._dense, str) else with_nodes(self.data, self._dense.nodes)
        write_bytes(target, netcdf(data))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Run:
        """Read a run from a NetCDF file.

        Parameters
        ----------
        path : path-like
            A file that `run.save` wrote.

        Returns
        -------
        Run

        Raises
        ------
        ValueError
            If the file is damaged, is not NetCDF, or is not a run.

        Warns
        -----
        UserWarning
            If another version of flexarm wrote the file.

        Notes
        -----
        `run.save` appends a digest to the file. A file that differs from its digest is refused before HDF5 opens it.
        Files without a digest (written by early versions, or changed by another program) are not checked: HDF5 finds
        most damage in them, but it may fail to return.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path = {shown(path)}: must be the path of a file that run.save wrote")
        from flexarm.motion.netcdf import read_netcdf, warn_of_version, without_nodes

        data = read_netcdf(path)
        missing = {"model", "options", "statistics", "version", "reason", "status"} - set(data.attrs)
        if missing:
            raise ValueError(f"{path}: is no run of flexarm: it lacks {', '.join(sorted(missing))}")
        warn_of_version(str(path), data.attrs)
        data, nodes = without_nodes(data)
        return Run(data, NO_STEPS if nodes is None else Dense(nodes))

    def to_dataframe(self) -> pd.DataFrame:
        """A pandas table: a row for each sample, by time, and a column for each of `run.names`."""
        import pandas as pd

        columns = {name: series.of(self.data).values for name, series in available(self.data).items()}
        return pd.DataFrame(columns, index=pd.Index(self.data["time"].values, name="time"))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table of `to_dataframe` to `path`, with a header, to ten digits."""
        target = _file(path, ".csv", "the table is written as text with commas")
        text = self.to_dataframe().to_csv(float_format="%.10g", lineterminator="\n")
        write_text(target, text)


def _records(data: object) -> Records:
    """What holds the data, if it can be that of a run."""
    if not isinstance(data, Arrays) and not all(hasattr(data, name) for name in ("attrs", "coords", "variables")):
        raise TypeError(f"data = {shown(data)}: must be the Dataset of a run; fa.simulate and Run.load make runs")
    return Records(data)  # type: ignore[arg-type]  # a Dataset, without importing xarray to say so


def _file(path: object, ending: str, what: str) -> Path:
    """The file that a path names, if its ending says what will be in it."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path = {shown(path)}: must be the name of a file")
    target = Path(os.fsdecode(path))
    if target.suffix.lower() != ending:
        raise ValueError(f"path = {str(target)!r}: must end in {ending}, since {what}")
    return target
