"""Reading of a run: quantities by name, interpolation between samples, comparison with another run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array
from flexarm.results.by_name import available
from flexarm.results.dataset import ENERGIES, Arrays, Records, joined
from flexarm.results.outputs import INPUTS_ARE_GONE, DenseOutput
from flexarm.robot import Robot

if TYPE_CHECKING:
    import xarray as xr

    from flexarm.dynamics.shape_truncation import Truncation
    from flexarm.results.internal_forces import Forces

NO_STEPS = "it was made from data, or written by an earlier version, without its steps"


class RunData:
    """Base class of `Run`: its data, without figures, analyses and files."""

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

    def at(self, t: Any) -> Self:
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
        return type(self)(self._dense.at(t, self._records.attrs), self._dense)

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

    def compare(self, other: RunData) -> xr.Dataset:
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

        if not isinstance(other, RunData):
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


def _records(data: object) -> Records:
    """Return the records of a run; raise TypeError if the data cannot be those of a run."""
    if not isinstance(data, Arrays) and not all(hasattr(data, name) for name in ("attrs", "coords", "variables")):
        raise TypeError(f"data = {shown(data)}: must be the Dataset of a run; fa.simulate and Run.load make runs")
    return Records(data)  # type: ignore[arg-type]  # a Dataset, without importing xarray to check
