"""A run as users have it: results, in memory or in a folder, and what can be done with them."""

from __future__ import annotations

from typing import Any, Literal, Self

from articulon.model.state import STEPS
from articulon.simulate import results
from articulon.simulate.notebook import table_of_words


class Run(results.Run):
    """A run: its results in the units of its case, whether they are in memory or in a folder.

    :func:`articulon.simulate`, :func:`articulon.run`, :func:`articulon.open_run` and :func:`articulon.resume` return
    one. Arrays are read or computed when they are first asked for.
    """

    @classmethod
    def of(cls, run: results.Run) -> Self:
        """The same results."""
        made = cls.__new__(cls)
        made.__dict__.update(run.__dict__)
        return made

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
        from articulon.simulate.judgement import judged_in_memory

        return judged_in_memory(self, self._memory("fidelity"), tolerance, error, budget)
