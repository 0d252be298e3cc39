"""The public class of a run: its results, in memory or in a folder, and operations on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from articulon.analysis.run_models import case_of
from articulon.cases.case import Case
from articulon.cases.simulated_model import longer_case, resumed
from articulon.errors import ArticulonError, CaseError, DivergenceError
from articulon.inputs import flag, one_word, path_of, shown, whole, word, words
from articulon.model.state import STEPS
from articulon.notebook_table import table_of_words
from articulon.runs.progress import shown_by
from articulon.simulation import results
from articulon.simulation.case_run import run
from articulon.simulation.memory_progress import joined
from articulon.simulation.run_request import Progress

if TYPE_CHECKING:
    import pandas
    import xarray

    from articulon.studio.replay import Replay

REPORT = "report.html"
"""File name of a run's report in its folder."""


class Run(results.Run):
    """A run: its results in the units of its case, whether they are in memory or in a folder.

    :func:`articulon.simulate`, :func:`articulon.run`, :func:`articulon.open_run` and :func:`articulon.resume` return a
    run. Arrays are read or computed on first access.
    """

    @classmethod
    def of(cls, run: results.Run) -> Self:
        """Convert the results of a run to this class.

        Parameters
        ----------
        run
            The results to convert.
        """
        made = cls.__new__(cls)
        made.__dict__.update(run.__dict__)
        return made

    def save(self, folder: str | Path, *, atoms: str | None = None, atoms_every: int = 1) -> Path:
        """Write the run into a folder: case, frames, state, summary and report, as :func:`articulon.run` does.

        The saved run can be continued there, with :func:`articulon.open_run` and :meth:`extend`, or with ``articulon
        run case.toml --out FOLDER --resume`` at the command line. This run stays in memory.

        Parameters
        ----------
        folder
            A folder that contains no run; it is created if missing.
        atoms
            Atoms that the trajectory stores, in the selection language of MDAnalysis, or ``"none"``; by default all
            atoms, if the model has atoms.
        atoms_every
            Atoms are stored in each frame whose number is a multiple of ``atoms_every``.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        CaseError
            For a model that no case file can describe (one with flexible bodies, or with forces or motions that are
            Python functions), and for a selection of no atoms.
        ArticulonError
            If the folder contains a run, if this run is already in a folder, if frames are not equally spaced, or if
            the disk is full.
        """
        from articulon.simulation.saving import save
        from articulon.studio.run_report import write_report_of

        if self.memory is None:
            raise ArticulonError(f"{self.folder}: this run is already in a folder; copy that folder")
        place = path_of(folder, "run.save, folder", CaseError)
        if atoms is not None and not isinstance(atoms, str):
            raise CaseError(f"run.save, atoms: expected a selection, such as 'protein', got {shown(atoms)}")
        save(self, place, atoms, whole(atoms_every, "run.save, atoms_every", least=1, error=CaseError))
        write_report_of(self, place / REPORT)
        return place

    def report(self, file: str | Path | None = None) -> Path:
        """Write the report of the run: one HTML file that contains all figures and needs no network.

        Parameters
        ----------
        file
            The file; by default ``report.html`` in the folder of the run, or in the current folder for a run in memory.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ArticulonError
            If results cannot be read, or the file cannot be written.
        """
        from articulon.studio.run_report import write_report_of

        default = Path(REPORT) if self.in_memory else self.folder / REPORT
        return write_report_of(self, default if file is None else path_of(file, "run.report, file", CaseError))

    def export(
        self,
        file: str | Path,
        *,
        select: str = "all",
        frames: str | slice | Sequence[int] | int | None = None,
        align: Literal["backbone", "none"] = "backbone",
        wrapped: bool = False,
        precision: int = 3,
        coordinates: str | Sequence[str] = "*",
    ) -> Path:
        """Export the run in the format given by the ending of the file name.

        Parameters
        ----------
        file
            A new file: ``.xtc``, ``.dcd`` or ``.pdb`` for atoms, ``.csv`` for joint coordinates, ``.gsd`` for contact
            spheres, ``.mp4`` or ``.gif`` for a video of at most ten seconds. With an XTC or DCD file, a PDB file of the
            first frame is written too, for programs that need names.
        select
            Selection of atoms in the language of MDAnalysis, such as ``"protein"`` or ``"name CA"``. Distances, as in
            ``"around 5 protein"``, are those in the first frame that is written.
        frames
            Selection of frames: ``"10:200:5"`` or a slice, both excluding the end, or a list of numbers; all by
            default. Negative numbers count from the end. Positions of atoms are computed from the joint coordinates in
            double precision, so any atoms can be exported.
        align
            ``"backbone"`` aligns each frame to the first frame that is written by a least-squares fit of the backbone
            atoms (N, CA and C; P, O5', C5', C4', C3' and O3' of nucleotides). Without backbones, the fit uses all heavy
            atoms except those of water and ions. The centre of the fitted atoms is the origin. The box is left out,
            because its edges would have to rotate with the atoms. ``"none"`` does not align.
        wrapped
            Whether each molecule is shifted by whole box edges so that its centre of mass lies in the box; frames are
            then not aligned. Molecules are always whole.
        precision
            Decimal places of nanometres that XTC keeps.
        coordinates
            For ``.csv``: names of joint coordinates, where ``*`` stands for any characters; all by default. Angles are
            in degrees, from −180 to 180.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ArticulonError
            For an unknown ending, an existing file, an empty selection, frames that do not exist, and a run without
            atoms.
        """
        from articulon.runs import atom_export

        path = path_of(file, "run.export, file", CaseError)
        if self.memory is None:
            case_of(self)
        if path.suffix == ".gsd":
            from articulon.runs.gsd_export import write_gsd

            atom_export.check_new(path)
            return write_gsd(self, path)
        if path.suffix.lower() in (".mp4", ".gif"):
            from articulon.runs.film_export import write_film

            return write_film(self, path, frames)
        if path.suffix == ".csv":
            atom_export.write_coordinates(self, path, words(coordinates, "export, coordinates", CaseError), frames)
            return path
        word(align, ("backbone", "none"), "export: unknown align", CaseError)
        choice = atom_export.Choice(
            select=one_word(select, "export, select", CaseError),
            frames=frames,
            align=align,
            wrapped=flag(wrapped, "export, wrapped", CaseError),
            precision=whole(precision, "export, precision", least=1, most=6, error=CaseError),
        )
        atom_export.write_atoms(self, path, choice)
        return path

    def animate(self) -> Replay:
        """Return the run as an animated 3D page, which notebooks display and ``.save(file)`` writes.

        The page needs neither server nor network. For long runs and large models it contains only equally spaced
        frames, so that it stays below 5 MB; ``.frames`` are the numbers of these frames.

        Returns
        -------
        Replay
            The page.

        Raises
        ------
        ArticulonError
            If viser is not installed (``pip install 'articulon[studio]'``), for a run without frames, and for positions
            that are not finite.
        """
        from articulon.studio.replay import replay_of
        from articulon.studio.run_frames import RunFrames

        return replay_of(RunFrames(self))

    def to_xarray(self) -> xarray.Dataset:
        """Return the frames as a dataset with names and units.

        Variables are ``positions`` (time, body, axis), ``rotations`` (time, body, euler_parameter), ``q`` (time,
        coordinate), ``u`` (time, speed), ``works`` (time, channel) of all channels with forces, and every other
        observable (time). All are in the units of the case. The units are in ``.attrs["units"]`` of each variable, and
        in ``coordinate_unit`` and ``speed_unit`` for coordinates and speeds.

        Returns
        -------
        xarray.Dataset
            The frames: ``run.to_xarray()["q"].sel(coordinate="upper.angle").plot()``.

        Raises
        ------
        ArticulonError
            If xarray is not installed (``pip install 'articulon[tables]'``), or an observable has the name of another
            array.
        """
        from articulon.runs.labelled_data import dataset_of

        return dataset_of(self)

    def to_pandas(self, *, coordinates: bool = True) -> pandas.DataFrame:
        """Return the frames as a table with a row for each frame, indexed by time.

        Columns are the observables (energies, works, temperatures, factors), the joint coordinates and the joint
        speeds, by name. ``.attrs["units"]`` has the unit of each column, in the units of the case.

        Parameters
        ----------
        coordinates
            Whether to include joint coordinates and speeds; large models have many.

        Returns
        -------
        pandas.DataFrame
            The frames: ``run.to_pandas()[["kinetic_energy", "upper.angle"]].plot()``.

        Raises
        ------
        ArticulonError
            If pandas is not installed (``pip install 'articulon[tables]'``), or a coordinate has the name of an
            observable.
        """
        from articulon.runs.labelled_data import table_of

        return table_of(self, flag(coordinates, "run.to_pandas, coordinates", ArticulonError))

    def extend(
        self,
        duration: float | str | None = None,
        *,
        frames: int | None = None,
        progress: Progress | bool | None = None,
    ) -> Self:
        """Continue the run from its end. Afterwards the run has all frames; they are bitwise equal to those of an
        uninterrupted run.

        Parameters
        ----------
        duration
            Additional simulated time [time]; a string includes its unit. None continues an interrupted run up to the
            end that was originally requested.
        frames
            For a run in memory: number of equal intervals between the new frames; by default the intervals are as long
            as before. The frame interval of a run in a folder is fixed.
        progress
            See :func:`articulon.run`.

        Returns
        -------
        Run
            This run.

        Raises
        ------
        CaseError
            For a duration that is not a whole number of steps or, in a folder, of frame intervals.
        ArticulonError
            For a run in a folder that has reached its stop condition, or that was interrupted and is given a duration.
        DivergenceError, KeyboardInterrupt
            See :func:`articulon.simulate` and :func:`articulon.run`. The run then contains the results so far.
        """
        if self.memory is None:
            self._extend_folder(duration, frames, shown_by(progress))
            return self
        try:
            part = resumed(self, duration, frames=frames, progress=shown_by(progress), where="extend")
        except (KeyboardInterrupt, DivergenceError) as error:
            done = getattr(error, "run", None)
            if isinstance(done, results.Run):
                self._take(done)
                error.run = self  # type: ignore[union-attr]
            raise
        self._take(part)
        return self

    def _take(self, part: results.Run) -> None:
        """Append the frames of a run that continues this one."""
        assert self.memory is not None and part.memory is not None
        memory = joined(self.memory, part.memory)
        self.__dict__.clear()
        self.__init__(case=part.case, memory=memory)  # type: ignore[misc]

    def _extend_folder(self, duration: float | str | None, frames: int | None, progress: Progress) -> None:
        if frames is not None:
            raise CaseError("extend: frames: a run in a folder keeps its frame interval; leave it out")
        folder = self.folder
        case = case_of(self)
        if duration is None and self.complete:
            raise CaseError("extend: duration: the run is complete; give the additional time")
        if duration is not None and not self.complete:
            raise ArticulonError(
                f"{folder}: extend: the run was {self.summary['status']} before its end; call run.extend() first, and "
                "extend it after that"
            )
        if duration is not None and self.summary.get("stop_time") is not None:
            raise ArticulonError(f"{folder}: extend: the run has {self.summary['status']}, which ended it")
        longer = case if duration is None else longer_case(case, duration)
        try:
            run(longer, folder, True, progress, extends=None if longer is case else case)
        finally:
            self.__dict__.clear()
            self.__init__(folder=folder, case=Case.read(folder / results.CASE, allow_code=case.allow_code))  # type: ignore[misc]
        self.report()

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: how the run ended, its main results and its arrays."""
        memory = self.memory
        if memory is not None:
            figures: dict[str, Any] = {"status": memory.status, "steps": int(memory.state.counters[STEPS])}
            unit, time, wall = "", float(memory.state.time[0]), memory.wall_seconds
            unit = "" if memory.model.units.time is None else memory.model.units.symbols[2]
            where = "memory; run.save(folder) writes it into a folder"
        else:
            figures, where = self.summary, str(self.folder)
            unit, time, wall = figures.get("time_unit", ""), figures["simulated_time"], figures["wall_seconds"]
        verdict = figures.get("fidelity") or {}
        title = "Run" if self.case is None else f"Run of {self.case.name}"
        return table_of_words(
            title,
            {
                "status": str(figures["status"]),
                "simulated": f"{time:.6g} {unit}".rstrip(),
                "steps": f"{figures['steps']:,}",
                "wall time": f"{wall:.3g} s",
                "what": getattr(self.case, "words", ""),
                "verdict": str(verdict.get("verdict", "")),
                "in": where,
                "arrays": "times, q, u, positions, rotations, observables",
            },
        )

    def fidelity(
        self, tolerance: float | str | None = None, error: Literal["time", "position"] = "time", budget: float = 0.05
    ) -> dict[str, Any] | None:
        """Compute the verdict on a scaled run in memory.

        The verdict concerns only the effect of scaling. None means that nothing was scaled; it does not mean that the
        run can be trusted. An unscaled run can be checked by its energy balance
        (``summary["energy_balance_error_relative"]``), by the temperature of each kind of motion
        (``summary["temperatures_of_freedoms"]``), by the number of independent samples of its averages
        (:func:`articulon.analysis.torsion_correlation`), and by a run with half the step.

        This method makes an unscaled reference simulation from the first frame; see ``docs/fidelity.md``. The verdict
        on a run in a folder is in its ``summary``; its settings are in ``[fidelity]`` of the case.

        Parameters
        ----------
        tolerance
            Accepted relative error, also as text such as ``"2 %"``; by default that of the policy if it has one,
            otherwise 0.02.
        error
            Kind of error. ``"time"`` compares the times at which positions are reached, relative to the duration;
            ``"position"`` compares the positions at each time, relative to the range of each motion.
        budget
            Largest cost of the unscaled simulation, as a fraction of the force evaluations of the run. A few thousand
            evaluations are allowed in any case, for small models. With 0 there is no unscaled simulation.

        Returns
        -------
        dict
            ``verdict``, one of "trusted", "suspect", "violated" and "inconclusive"; the ``worst`` motion; ``broken``,
            ``since``, the ``premises`` and their ``cost``, as in ``summary.json`` of a run. None if nothing was scaled.

        Raises
        ------
        CaseError
            For an invalid tolerance, budget or kind of error.
        ArticulonError
            For a run in a folder.
        """
        from articulon.simulation.memory_verdict import judged_in_memory

        return judged_in_memory(self, self._memory("fidelity"), tolerance, error, budget)
