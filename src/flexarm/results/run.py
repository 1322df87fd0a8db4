"""`Run`: the labelled results of a simulation, with the model, options, versions and statistics that produced them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flexarm._version import __version__
from flexarm.foundation.files import write_bytes, write_text
from flexarm.foundation.messages import shown
from flexarm.results.by_name import available
from flexarm.results.energy_balance import balance_sentence
from flexarm.results.outputs import DenseOutput
from flexarm.results.run_data import NO_STEPS, RunData
from flexarm.robot import DescriptionError, Robot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from flexarm.analysis.damping_identification import Decay
    from flexarm.analysis.damping_identification import Method as DecayMethod
    from flexarm.analysis.frequency_response import FrequencyResponse
    from flexarm.analysis.spectra import Scaling, Spectrum, Trend, Window
    from flexarm.plotting.animate import Animation
    from flexarm.studio.server import Studio


class Run(RunData):
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
