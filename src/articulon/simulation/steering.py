"""Interface for steering a run between chunks of steps: to pause it, inspect it, or change its forces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from articulon.simulation.chunks import Chunks
    from articulon.simulation.interruption import Interruption
    from articulon.simulation.recorder import Recorder


class Steering(Protocol):
    """Gets control of a run between its chunks."""

    chunk_seconds: float
    """Target wall time of a chunk of steps [s]."""

    @property
    def idle_seconds(self) -> float:
        """Wall time for which steering has paused the run [s]; it is not part of the wall time of the run."""
        ...

    def between_chunks(self, recorder: Recorder, chunks: Chunks, interruption: Interruption) -> None:
        """Act between two chunks. It is called after each chunk and once before the first chunk; the run waits until it
        returns.

        Parameters
        ----------
        recorder
            The state, the latest frame and the kept frames. Steering may replace the driver and the evaluator in
            ``recorder.prepared``.
        chunks
            Number of steps of the next chunk, which may be changed.
        interruption
            Says whether the run must stop. Steering that waits must then return.
        """
