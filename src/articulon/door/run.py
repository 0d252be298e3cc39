"""A run as users have it: results, in memory or in a folder, and what can be done with them."""

from __future__ import annotations

from typing import Any, Literal, Self

from articulon.simulate import results


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
