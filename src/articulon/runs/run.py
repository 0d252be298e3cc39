"""A run as users have it: results, in memory or in a folder, and what can be done with them."""

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
"""What the report of a run is called in its folder."""


class Run(results.Run):
    """A run: its results in the units of its case, whether they are in memory or in a folder.

    :func:`articulon.simulate`, :func:`articulon.run`, :func:`articulon.open_run` and :func:`articulon.resume` return
    one. Arrays are read or computed when they are first asked for.
    """

    @classmethod
    def of(cls, run: results.Run) -> Self:
        """The same results.

        Parameters
        ----------
        run
            The results that are taken over.
        """
        made = cls.__new__(cls)
        made.__dict__.update(run.__dict__)
        return made

    def save(self, folder: str | Path, *, atoms: str | None = None, atoms_every: int = 1) -> Path:
        """Write the run into a folder: case, frames, state, figures and report, as :func:`articulon.run` writes them.

        A run in memory goes on there, by :meth:`extend` of what :func:`articulon.open_run` gives, or by ``articulon run
        case.toml --out FOLDER --resume`` at the command line; the run itself stays in memory.

        Parameters
        ----------
        folder
            A folder that holds no run; it is made where it is missing.
        atoms
            Which atoms the trajectory holds, in MDAnalysis's language, or ``"none"``; all by default, where the model
            has atoms.
        atoms_every
            Atoms are in each frame whose number is a multiple of this.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        CaseError
            For a model that no case file can hold: flexible bodies, or forces and motions that are Python functions;
            for a selection of no atoms.
        ArticulonError
            For a folder that holds a run, for a run that is in a folder already, one whose frames are not equally far
            apart, and for a full disk.
        """
        from articulon.simulation.saving import save
        from articulon.studio.run_report import write_report_of

        if self.memory is None:
            raise ArticulonError(f"{self.folder}: this run is in its folder already; copy the folder")
        place = path_of(folder, "run.save, folder", CaseError)
        if atoms is not None and not isinstance(atoms, str):
            raise CaseError(f"run.save, atoms: expected a selection, such as 'protein', got {shown(atoms)}")
        save(self, place, atoms, whole(atoms_every, "run.save, atoms_every", least=1, error=CaseError))
        write_report_of(self, place / REPORT)
        return place

    def report(self, file: str | Path | None = None) -> Path:
        """Write the report of the run, one HTML file with its figures, readable without a network.

        Parameters
        ----------
        file
            The file; ``report.html`` in the folder of the run by default, and in the present one for a run in memory.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ArticulonError
            For results that cannot be read, and a file that cannot be written.
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
        """Write the run for other programs, in the format that the ending of the file names.

        Parameters
        ----------
        file
            A new file: ``.xtc``, ``.dcd`` or ``.pdb`` for atoms, ``.csv`` for joint coordinates, ``.gsd`` for contact
            spheres, ``.mp4`` or ``.gif`` for a film of ten seconds at most. Beside an XTC or DCD file a PDB file of the
            first frame is written, for programs that want names.
        select
            Which atoms, in MDAnalysis's language: ``"protein"``, ``"name CA"``. Distances, as in ``"around 5
            protein"``, are those of the first frame that is written.
        frames
            Which frames: ``"10:200:5"`` or a slice, without the last number itself, or a list of numbers; all by
            default. Negative numbers count from the end. Atoms are computed from the joint coordinates in double
            precision, so that it does not matter which the trajectory holds.
        align
            ``"backbone"`` moves each frame as a whole onto the first one that is written, by the least squares of the
            backbones' atoms (N, CA and C; P, O5', C5', C4', C3' and O3' of nucleotides), or of all heavy atoms but
            those of water and ions where there are none; their middle is the origin. A box, whose edges would have to
            turn with the atoms, is then left out. ``"none"`` leaves all where it is.
        wrapped
            Whether each molecule is moved by whole edges of the box so that its centre of mass lies in it, and nothing
            is aligned. Molecules are always whole.
        precision
            Digits after the point that XTC keeps of nanometres.
        coordinates
            For ``.csv``: names of joint coordinates, ``*`` standing for any letters; all by default. Angles are in
            degrees, from −180 to 180.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ArticulonError
            For an unknown ending, a file that is there already, a selection of nothing, frames that there are not, and
            a run without atoms.
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
        """The run in three dimensions, as a page that plays it: notebooks show it, and ``.save(file)`` writes it.

        It needs neither a server nor a network. Of long runs and large models it holds as many frames, at equal
        distances, as keep it below 5 MB; ``.frames`` are their numbers.

        Returns
        -------
        Replay
            The page.

        Raises
        ------
        ArticulonError
            Where viser is not installed (``pip install 'articulon[studio]'``), for a run without frames, and for places
            that are not numbers.
        """
        from articulon.studio.replay import replay_of
        from articulon.studio.run_frames import RunFrames

        return replay_of(RunFrames(self))

    def to_xarray(self) -> xarray.Dataset:
        """The frames as a dataset with names and units.

        Variables are ``positions`` (time, body, axis), ``rotations`` (time, body, euler_parameter), ``q`` (time,
        coordinate), ``u`` (time, speed), ``works`` (time, channel) of the channels that act, and every other observable
        (time). Units are in ``.attrs["units"]`` of each, and those of coordinates and speeds in ``coordinate_unit`` and
        ``speed_unit``; numbers are those of the case's units.

        Returns
        -------
        xarray.Dataset
            The frames: ``run.to_xarray()["q"].sel(coordinate="upper.angle").plot()``.

        Raises
        ------
        ArticulonError
            Where xarray is not installed (``pip install 'articulon[tables]'``), and for an observable that has the name
            of another array.
        """
        from articulon.runs.labelled_data import dataset_of

        return dataset_of(self)

    def to_pandas(self, *, coordinates: bool = True) -> pandas.DataFrame:
        """The frames as a table: a row for each, by its time.

        Columns are the observables (energies, works, temperatures, factors), the joint coordinates and the joint
        speeds by their names. ``.attrs["units"]`` has the units by column; numbers are those of the case's units.

        Parameters
        ----------
        coordinates
            Whether joint coordinates and speeds are in it; large models have many.

        Returns
        -------
        pandas.DataFrame
            The frames: ``run.to_pandas()[["kinetic_energy", "upper.angle"]].plot()``.

        Raises
        ------
        ArticulonError
            Where pandas is not installed (``pip install 'articulon[tables]'``), and for a coordinate that has the name
            of an observable.
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
        """Go on from where the run ended, to the bits of an unbroken one; the run then holds all frames.

        Parameters
        ----------
        duration
            How much longer [time]; a string carries its unit. None for a run that was interrupted: to the end that was
            asked for.
        frames
            Of a run in memory: number of equal intervals between the frames that come, as long as those before by
            default. In a folder they are always as long.
        progress
            See :func:`articulon.run`.

        Returns
        -------
        Run
            This run.

        Raises
        ------
        CaseError
            For a duration that is no whole number of steps or, in a folder, of the intervals between frames.
        ArticulonError
            For a run in a folder that was ended by what its case watches, or has not come to its end and is given a
            duration.
        DivergenceError, KeyboardInterrupt
            As for :func:`articulon.simulate` and :func:`articulon.run`. The run then holds what has been computed.
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
        """Add the frames of a run that goes on from this one."""
        assert self.memory is not None and part.memory is not None
        memory = joined(self.memory, part.memory)
        self.__dict__.clear()
        self.__init__(case=part.case, memory=memory)  # type: ignore[misc]

    def _extend_folder(self, duration: float | str | None, frames: int | None, progress: Progress) -> None:
        if frames is not None:
            raise CaseError("extend: frames: in a folder frames are as far apart as they were; leave them out")
        folder = self.folder
        case = case_of(self)
        if duration is None and self.complete:
            raise CaseError("extend: duration: the run has come to its end; say how much longer it is to go on")
        if duration is not None and not self.complete:
            raise ArticulonError(
                f"{folder}: extend: the run was {self.summary['status']} before its end; go on with run.extend(), and "
                "longer after that"
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
        """What a notebook shows: how the run ended, its figures and its arrays."""
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
        """Whether a scaled run in memory can be trusted; None where nothing was scaled.

        An unscaled simulation is made beside it, from its first frame on; see ``docs/fidelity.md``. The verdict on a
        run in a folder is in its ``summary``, made by what ``[fidelity]`` of its case says.

        Parameters
        ----------
        tolerance
            Relative error that is trusted, also as ``"2 %"``; that of the policy by default where it has one, or else
            0.02.
        error
            What the tolerance is about: when places are reached, relative to the duration, or where bodies are at each
            moment, relative to the range of each motion.
        budget
            What the unscaled simulation may cost, as a part of the evaluations of forces; some thousands are always
            allowed for small models, and 0 is for none.

        Returns
        -------
        dict
            ``verdict``, one of "trusted", "suspect", "violated" and "inconclusive"; the ``worst`` motion; ``broken``,
            ``since``, the ``premises`` and what they ``cost``, as in ``summary.json`` of a run.

        Raises
        ------
        CaseError
            For a tolerance, a budget or a kind of error that cannot be.
        ArticulonError
            For a run in a folder.
        """
        from articulon.simulation.memory_verdict import judged_in_memory

        return judged_in_memory(self, self._memory("fidelity"), tolerance, error, budget)
