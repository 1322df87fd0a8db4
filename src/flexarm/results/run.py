"""`Run`: the labelled results of a simulation, with the model, options, versions and statistics that produced them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexarm._version import __version__
from flexarm.foundation.files import write_bytes, write_text
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array
from flexarm.results.by_name import available
from flexarm.results.dataset import ENERGIES, Arrays, Records, joined
from flexarm.results.energy_balance import balance_sentence
from flexarm.results.outputs import INPUTS_ARE_GONE, DenseOutput
from flexarm.robot import DescriptionError, Robot

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

    from flexarm.analysis.damping_identification import Decay
    from flexarm.analysis.damping_identification import Method as DecayMethod
    from flexarm.analysis.frequency_response import FrequencyResponse
    from flexarm.analysis.spectra import Scaling, Spectrum, Trend, Window
    from flexarm.dynamics.shape_truncation import Truncation
    from flexarm.plotting.animate import Animation
    from flexarm.results.internal_forces import Forces
    from flexarm.studio.server import Studio

NO_STEPS = "it was made from data, or written by an earlier version, without its steps"


class Run:
    """Results of a simulation over time.

    `fa.simulate` and `Run.load` return runs. Quantities are read by name, `run["upper.q"]`, `run["tip.y"]` (all names
    are in `run.names`), or as attributes, `run.tip`, `run.energy`; `run.data` holds everything as one xarray Dataset.

    Parameters
    ----------
    data : xarray.Dataset or Arrays
        Variables, coordinates and attributes of a run.
    dense : Dense or str, optional
        Recorded steps, from which `run.at(t)` interpolates, or the reason why there are none.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.two_link_arm()
    >>> run = fa.simulate(arm, 0.1, torque={"upper": 0.01}, native=False)
    >>> run.status, len(run.time), "upper.q" in run.names
    ('completed', 1001, True)
    >>> float(run["tip.x"][0])
    1.5
    """

    def __init__(self, data: xr.Dataset | Arrays, dense: DenseOutput | str = NO_STEPS) -> None:
        self._records, self._dense = _records(data), dense

    # --- reading ---

    @property
    def data(self) -> xr.Dataset:
        """All results with their attributes as one labelled Dataset, created on first access."""
        return self._records.dataset

    @data.setter
    def data(self, data: xr.Dataset) -> None:
        self._records, self._dense = _records(data), NO_STEPS

    @property
    def robot(self) -> Robot:
        """The robot that was simulated."""
        return Robot.model_validate(json.loads(self._records.attrs["model"]))

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of `fa.simulate`, as plain data."""
        return dict(json.loads(self._records.attrs["options"]))

    @property
    def statistics(self) -> dict[str, Any]:
        """Numbers of steps, times, method, compiler and estimates of the run, as plain data."""
        return dict(json.loads(self._records.attrs["statistics"]))

    def _add_statistics(self, **more: Any) -> None:
        text = json.dumps(more, default=float)
        self._records.attrs["statistics"] = joined(self._records.attrs["statistics"], text)

    @property
    def error_estimate(self) -> float | None:
        """Estimated largest position error of the links' ends (m); None without `verify=True`."""
        found = self.statistics.get("error_estimate")
        return None if found is None else float(found)

    @property
    def truncation(self) -> Truncation:
        """Estimated error due to the number of shapes, and frequencies compared with those of twice the shapes.

        `error` is the error of the links' tips as a share of the peak deflection, `shapes` the numbers of shapes for
        which the estimate is small, and `reason` the reason if there is no estimate.
        """
        from flexarm.dynamics.shape_truncation import Truncation

        found = self.statistics.get("truncation")
        return Truncation(reason="the run has no estimate") if found is None else Truncation.from_plain(found)

    @property
    def reason(self) -> str:
        """Reason why the run ended: `completed`, or what stopped it."""
        return str(self._records.attrs["reason"])

    @property
    def status(self) -> str:
        """Status of the run: `completed`, `stopped` (by a limit or a condition), `interrupted` or `failed`."""
        return str(self._records.attrs["status"])

    @property
    def time(self) -> xr.DataArray:
        """Times of the samples (s)."""
        return self.data["time"]

    @property
    def tip(self) -> xr.DataArray:
        """Position of the last link's tip (m), with dimensions (time, axis)."""
        return self.data["tip"]

    @property
    def torque(self) -> xr.DataArray:
        """Torques of all actuators (N m or N), driven joints included, with dimensions (time, input)."""
        return self["torque"]

    @property
    def energy(self) -> xr.Dataset:
        """Energies (J): kinetic, elastic, gravity, drive, work, dissipated and their balance."""
        return self.data[list(ENERGIES)]

    def __getitem__(self, name: str) -> xr.DataArray:
        """Return a quantity over time.

        Parameters
        ----------
        name : str
            One of `run.names`; any other output of `fa.linearize`, such as `"fore.strain(0.1)"` or `"tip.y'"`; or a
            whole variable of the data (`"tip"`, `"q"`).

        Returns
        -------
        xarray.DataArray
            Its attributes `long_name` and `units` describe it.

        Raises
        ------
        KeyError
            If there is no such quantity; the message names the nearest one.
        """
        if isinstance(name, str) and name in self.data:
            return self.data[name]
        self._require_inputs(name)
        table = available(self.data)
        if isinstance(name, str) and name in table:
            return table[name].of(self.data)
        return self._forces.output(name, [*self._records.names, *table])

    def array(self, name: str) -> Array:
        """Return the values of a quantity without labels.

        The same as `run[name].values`, read-only. Whole variables are found without importing xarray, which takes
        longer than a short simulation.

        Parameters
        ----------
        name : str
            `"time"`, `"q"`, `"v"`, `"a"`, `"tip"`, `"deflection"`, ..., or any name for `run[name]`.

        Returns
        -------
        ndarray, shape (time, ...)
        """
        self._require_inputs(name)
        known = isinstance(name, str) and self._records.has(name)
        values = (self._records.values(name) if known else self[name].values).view()
        values.flags.writeable = False  # they are the run's own
        return values

    def at(self, t: Any) -> Run:
        """Interpolate the run at given times.

        Parameters
        ----------
        t : float or array_like
            Times (s), in any order.

        Returns
        -------
        Run
            A run with samples at these times, for example `run.at(0.5).tip`.

        Raises
        ------
        ValueError
            If a time is outside the run, or the run has no recorded steps.

        Notes
        -----
        The recorded steps are interpolated with the accuracy of the method. At the time of a jump of an input the
        values are those after the jump. Runs that were saved or copied have no torques and reactions there.
        """
        if isinstance(self._dense, str):
            raise ValueError(
                f"at: this run cannot be read between its samples: {self._dense}; run.data.interp(time=t) goes "
                "straight from sample to sample"
            )
        return Run(self._dense.at(t, self._records.attrs), self._dense)

    @property
    def continuous(self) -> bool:
        """True if `at` can interpolate between samples."""
        return not isinstance(self._dense, str)

    @property
    def jumps(self) -> Array:
        """Times (s) at which inputs may have jumped, the start included; empty if `at` cannot interpolate."""
        return np.zeros(0) if isinstance(self._dense, str) else self._dense.nodes.jumps

    @property
    def names(self) -> list[str]:
        """Names of all recorded quantities.

        `upper.q`, `upper.q'` (rate), `upper.q''` (acceleration), `tip.x`, `deflection.upper.y`, `torque.upper`,
        `kinetic`, a recorded point's `elbow.x`, ... Other outputs of `fa.linearize`, such as `fore.strain(0.1)`, are
        computed when they are read.
        """
        return list(available(self.data))

    def _require_inputs(self, name: object) -> None:
        """Raise KeyError if torques or reactions are requested of a run that has none."""
        variable = str(name).partition(".")[0]
        if variable in ("torque", "reaction") and not self._records.has("torque"):
            raise KeyError(f"there is no {shown(name)} in this run: {INPUTS_ARE_GONE}")

    def deflection(self, link: str) -> xr.DataArray:
        """Return the displacement of a link's tip relative to the straight link.

        Parameters
        ----------
        link : str
            Name of the link.

        Returns
        -------
        xarray.DataArray, dimensions (time, axis)
            Displacement (m) along the axes of the link's root frame. A link that bends becomes shorter along x.
        """
        links = self.data["link"].values.tolist()
        if link not in links:
            raise KeyError(f"there is no link {shown(link)} in this run{suggestion(link, links)}")
        return self.data["deflection"].sel(link=link)

    def reaction(self, name: str, axes: Literal["joint", "world"] = "joint") -> xr.DataArray:
        """Return the force and torque in a joint, or the forces of a constraint.

        Parameters
        ----------
        name : str
            A link, for the joint that connects it with its parent; a constraint; or a row of a constraint. A link takes
            precedence over a constraint of the same name.
        axes : {"joint", "world"}, optional
            Axes of a joint's components: those of the link's root frame, directly behind the joint, or those of the
            world.

        Returns
        -------
        xarray.DataArray, dimensions (time, component), (time, row) or (time,)
            Force (N) and torque (N m) on the link about the joint: everything that the parent exerts, including drive,
            friction and stops.
        """
        return self._forces.reaction(name, axes)

    def force(self, link: str, x: Any) -> xr.DataArray:
        """Return the axial and shear forces across a section of a link.

        Parameters
        ----------
        link : str
            Name of the link.
        x : float or sequence of float
            Distance of the section from the link's root (m).

        Returns
        -------
        xarray.DataArray, dimensions (time, axis) or (time, x, axis)
            Force (N) of the outboard part on the inboard part in the axes of the section: axial (x, tension is
            positive) and shear (y, z), from the equilibrium of the outboard part.
        """
        return self._forces.across(link, x, slice(0, 3), "force across sections", "N")

    def moment(self, link: str, x: Any) -> xr.DataArray:
        """Return the torsion and bending moments across a section of a link.

        Parameters
        ----------
        link : str
            Name of the link.
        x : float or sequence of float
            Distance of the section from the link's root (m).

        Returns
        -------
        xarray.DataArray, dimensions (time, axis) or (time, x, axis)
            Torsion (x) and bending moments about y and z (N m) in the axes of the section. Signs are those of GJ
            theta', -EI w'' and EI v''. The values follow from the equilibrium of the outboard part, not from the
            shapes.
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
        from flexarm.results.internal_forces import Forces

        return Forces(self._records, self._dense)

    def compare(self, other: Run) -> xr.Dataset:
        """Return the difference between this run and another one.

        Parameters
        ----------
        other : Run
            It is interpolated at the times of this run: as by `at`, or linearly between samples if it has no steps.

        Returns
        -------
        xarray.Dataset
            `tip` and the coordinates that both runs have, this run minus the other; nan beyond the end of the other.
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
        """Return the data at these times, nan beyond the end of the run."""
        if isinstance(self._dense, str):
            return self.data.interp(time=time) if self.time.size > 1 else self.data.reindex(time=time)
        if np.isin(time.values, own := self.array("time")).all():
            return self.data.sel(time=time)
        inside = time.values <= own[-1]
        return self.at(time.values[inside]).data.reindex(time=time)

    # --- figures ---

    def plot(self, *what: str, other: Run | None = None) -> Figure:
        """Plot the run.

        Parameters
        ----------
        *what : str
            Names of quantities, as for `run[name]`, one panel each. By default joints, tip deflections, torques and
            energies.
        other : Run, optional
            Another run to compare with, for example of the rigid twin.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from flexarm.plotting.time_series import history_figure, run_figure

        return history_figure(self, what, other) if what else run_figure(self, other)

    def plot_trajectory(
        self, times: Sequence[float] | int = 5, *, other: Run | None = None, magnify: float = 1.0
    ) -> Figure:
        """Plot the path of the tip with the deformed arm at some times.

        Parameters
        ----------
        times : sequence of float or int, optional
            Times (s) at which the arm is drawn, or their number.
        other : Run, optional
            Another run, drawn in grey.
        magnify : float, optional
            Factor on deflections.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from flexarm.plotting.arm_figures import trajectory_figure

        return trajectory_figure(self, times, other, magnify)

    def plot_section_forces(self, link: str, times: Sequence[float] | int = 3) -> Figure:
        """Plot diagrams of internal forces and moments along a link.

        Parameters
        ----------
        link : str
            Name of the link.
        times : sequence of float or int, optional
            Times (s), for which the nearest samples are drawn, or their number.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from flexarm.plotting.arm_figures import section_forces_figure

        return section_forces_figure(self, link, times)

    def residual(self, name: str = "tip", *, after: float) -> float:
        """Return the amplitude of the vibration that remains after a time.

        Parameters
        ----------
        name : str, optional
            `"tip"`, another recorded point, or a quantity, as for `run[name]`.
        after : float
            Time (s) from which on the run is evaluated.

        Returns
        -------
        float
            Half of the peak-to-peak value (m for points, else the unit of the quantity).
        """
        from flexarm.results.vibration import residual

        return residual(self, name, after)

    # --- analyses ---

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
        """Return the spectrum of a quantity.

        Parameters
        ----------
        name : str
            Name of the quantity, as for `run[name]`, such as `"tip.y''"`.
        after, before : float, optional
            Part of the run that is evaluated (s). By default the whole run.
        sample : float, optional
            Sampling time (s). By default that of the run. A warning is given if vibrations alias.
        window, scaling, trend : str, optional
            See `fa.spectrum`.

        Returns
        -------
        Spectrum
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
        """Identify frequencies and damping ratios from a free vibration.

        Parameters
        ----------
        name : str
            Name of the quantity, as for `run[name]`.
        after : float
            Time (s) after which no input acts.
        before : float, optional
            End of the part that is evaluated (s). By default the end of the run.
        sample : float, optional
            Sampling time (s). By default that of the run.
        modes : int, optional
            Number of vibrations, the strongest first.
        method : str, optional
            See `fa.decay`.

        Returns
        -------
        Decay
        """
        from flexarm.analysis.damping_identification import run_decay

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
        """Estimate a frequency response from the run.

        Parameters
        ----------
        input : str
            An actuator, by its link, or the acceleration of a driven joint, `"upper.q''"`.
        output : str
            An output of `fa.linearize`.
        f : array_like, optional
            Frequencies (Hz). By default those that the input excites; it should be broad (`fa.chirp`) and small.
        after, before : float, optional
            Part of the run that is evaluated (s). It must begin at rest and should end some periods after the input.
        sample : float, optional
            Length of the intervals of integration (s). By default the sampling time of the run.

        Returns
        -------
        FrequencyResponse
            To be compared with `lin.frf`.
        """
        from flexarm.analysis.frequency_response import run_frf

        return run_frf(self, input, output, f, after, before, sample)

    def animate(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Animation:
        """Animate the moving arm.

        Parameters
        ----------
        path : path-like, optional
            A .gif, .mp4 (needs ffmpeg) or .html file to which the film is saved.
        **options
            fps : frames per second (25). speed : simulated seconds per second of the film (1). magnify : factor on
            deflections (1). trace : draw the path of the tip (True). other : another run, drawn in grey. dpi : pixels
            per inch; the film is
            7 inches wide (100). progress : None shows a bar on a terminal only.

        Returns
        -------
        Animation
            The film, which a notebook shows as a player.
        """
        from flexarm.plotting.animate import Animation

        animation = Animation(self, **options)
        if path is not None:
            animation.save(path)
        return animation

    def show(self, **options: Any) -> Studio:
        """Open the run in the studio, in the browser.

        Parameters
        ----------
        **options
            `host`, `port` and `browser`, as for `fa.studio`.

        Returns
        -------
        Studio
        """
        from flexarm.studio.server import show_run

        return show_run(self, **options)

    def __repr__(self) -> str:
        t, share = self.array("time"), self.statistics.get("energy_share")
        text = f"Run of '{self._records.attrs['robot']}', {len(t)} samples to t = {t[-1]:g} s, {self.reason}"
        if self.statistics.get("stiffening", {}).get("repeated"):
            text += ", repeated with exact links"
        return f"{text}; {balance_sentence(share, self.robot)}" if share else text

    # --- files ---

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run to a NetCDF4 file.

        Parameters
        ----------
        path : path-like
            Name of the file, ending in .nc. An existing file stays until the new one is complete.
        """
        from flexarm.results.netcdf import netcdf, with_nodes

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
            If the file is damaged, is not NetCDF, is not a run, or has a robot with fields that this version does not
            know.

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
        from flexarm.results.netcdf import read_netcdf, warn_of_version, without_nodes

        data = read_netcdf(path)
        missing = {"model", "options", "statistics", "version", "reason", "status"} - set(data.attrs)
        if missing:
            raise ValueError(f"{path}: is no run of flexarm: it lacks {', '.join(sorted(missing))}")
        _require_known_model(path, data.attrs)
        warn_of_version(str(path), data.attrs)
        data, nodes = without_nodes(data)
        return Run(data, NO_STEPS if nodes is None else DenseOutput(nodes))

    def to_dataframe(self) -> pd.DataFrame:
        """Return a table of all quantities.

        Returns
        -------
        pandas.DataFrame
            A row for each sample, by time (s), and a column for each of `run.names`.
        """
        import pandas as pd

        columns = {name: series.of(self.data).values for name, series in available(self.data).items()}
        return pd.DataFrame(columns, index=pd.Index(self.data["time"].values, name="time"))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table of `to_dataframe` as text.

        Parameters
        ----------
        path : path-like
            Name of the file, ending in .csv. Numbers have ten digits.
        """
        target = _file(path, ".csv", "the table is written as text with commas")
        text = self.to_dataframe().to_csv(float_format="%.10g", lineterminator="\n")
        write_text(target, text)


def _records(data: object) -> Records:
    """Return the records of a run; raise TypeError if the data cannot be those of a run."""
    if not isinstance(data, Arrays) and not all(hasattr(data, name) for name in ("attrs", "coords", "variables")):
        raise TypeError(f"data = {shown(data)}: must be the Dataset of a run; fa.simulate and Run.load make runs")
    return Records(data)  # type: ignore[arg-type]  # a Dataset, without importing xarray to check


def _require_known_model(path: str | os.PathLike[str], attributes: Mapping[Any, Any]) -> None:
    """Raise a ValueError if the robot of a saved run has fields that this version does not know, or is none."""
    try:
        Robot.model_validate(json.loads(attributes["model"]))
    except ValueError as error:
        problems = error.problems if isinstance(error, DescriptionError) else []
        unknown = [each.path for each in problems if each.sentence.startswith("unknown")]
        what = f"fields that {__version__} does not know: {', '.join(unknown)}" if unknown else f"no robot: {error}"
        raise ValueError(f"{path}, written by flexarm {attributes['version']}, has {what}") from None


def _file(path: object, ending: str, what: str) -> Path:
    """Return the path of a file whose name must have a certain ending."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path = {shown(path)}: must be the name of a file")
    target = Path(os.fsdecode(path))
    if target.suffix.lower() != ending:
        raise ValueError(f"path = {str(target)!r}: must end in {ending}, since {what}")
    return target
