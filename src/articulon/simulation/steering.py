"""What steers a run between two chunks of its steps: pauses it, looks at it, changes what acts on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from articulon.simulation.chunks import Chunks
    from articulon.simulation.interruption import Interruption
    from articulon.simulation.recorder import Recorder


class Steering(Protocol):
    """Has control of a run between its chunks. A run without one does nothing for it."""

    chunk_seconds: float
    """Wall time that a chunk of steps should take [s]."""

    @property
    def idle_seconds(self) -> float:
        """Wall time that it has kept the run waiting, which is none of the run's [s]."""
        ...

    def between_chunks(self, recorder: Recorder, chunks: Chunks, interruption: Interruption) -> None:
        """Called after each chunk, and once before the first; the run waits for it.

        Parameters
        ----------
        recorder
            The state, the latest frame and what is kept. Another driver and its evaluator may be put into
            ``recorder.prepared``.
        chunks
            How many steps the next chunk takes, which may be changed.
        interruption
            Says whether the run is to stop; who makes it wait returns then.
        """
