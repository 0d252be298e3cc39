"""What each rank of MPI does in the tests of LAMMPS: ``mpiexec -n N python -m tests.support.rank_program DIR``.

It runs a small melt from the state that the folder holds and writes what it has found beside it, a file a rank.
"""

from __future__ import annotations

import faulthandler
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import articulon as ar
from articulon.forces.sites.lammps_instance import Instance
from articulon.forces.sites.lammps_ranks import world
from articulon.integrate.shared_beads import SharedBeadDriver
from articulon.model.state import POTENTIAL, THERMOSTAT
from articulon.simulation.chunks import Chunks

CHAINS, BEADS, STEP, STEPS = 6, 8, 0.005, 80
RULE: dict[str, Any] = {"rule": "friction-implicit", "drift": "geodesic", "step": STEP}


def melt(chains: int = CHAINS) -> ar.Model:
    """Rods in a periodic box."""
    return ar.load_case("polymer-melt", {"model.chains": chains, "model.beads": BEADS}).build_model()


def found(model: ar.Model, q: np.ndarray, u: np.ndarray, steps: int = STEPS) -> dict[str, np.ndarray]:
    """Coordinates, energies and pressures along a run."""
    run = ar.simulate(model, steps * STEP, frames=4, q=q, u=u, **RULE)
    energies = {"potential_energy": run.potential_energy, "kinetic_energy": run.kinetic_energy}
    return {"q": run.q, "u": run.u, "pressure": run.observables["pressure"], **energies}


def stirred(model: ar.Model, q: np.ndarray, u: np.ndarray) -> dict[str, np.ndarray]:
    """Coordinates and works under Langevin's thermostat."""
    bath = ar.thermostats.Langevin(temperature=1.0, friction=1.0)
    run = ar.simulate(model, 40 * STEP, frames=2, q=q, u=u, thermostat=bath, **RULE)
    works = {f"{name}_work": run.works[:, k] for name, k in (("thermostat", THERMOSTAT), ("potential", POTENTIAL))}
    return {"stirred_q": run.q, **works}


def counted(steps: list[int]) -> None:
    """Has steps that are shared out counted, and the beads that this rank moves in them."""
    take = SharedBeadDriver._take_together

    def take_counted(driver: SharedBeadDriver, state: Any, number: int) -> int:
        steps[0], steps[1] = steps[0] + number, driver.own_beads.link.size
        return take(driver, state, number)

    SharedBeadDriver._take_together = take_counted  # type: ignore[method-assign]


@contextmanager
def uneven_chunks(rank: int) -> Iterator[None]:
    """Gives each rank chunks of another length, as the clock does."""
    took = Chunks.took

    def took_as_rank(chunks: Chunks, steps: int, seconds: float) -> None:
        chunks.steps = 3 + 2 * rank

    Chunks.took = took_as_rank  # type: ignore[method-assign]
    yield
    Chunks.took = took  # type: ignore[method-assign]


def refusal(action: Any) -> str:
    """What an action is refused with, nothing where it is not."""
    try:
        action()
    except ar.ArticulonError as error:
        return str(error)
    return ""


def main(folder: Path) -> None:
    """Write ``rank-K.npz``."""
    ranks, start = world(), np.load(folder / "start.npz")
    q, u = start["q"], start["u"]
    model = ar.lammps.through_lammps(melt())
    shared = [0, 0]
    counted(shared)
    results: dict[str, Any] = {"size": ranks.size, **found(model, q, u), **stirred(model, q, u)}
    with uneven_chunks(ranks.rank):
        results["uneven"] = found(model, q, u)["q"]
    results["shared_steps"], results["own_beads"] = shared
    results["again"] = found(model, q, u, 40)["q"]
    results["once_more"] = found(model, q, u, 40)["q"]
    if ranks.size > 1:
        astray = u + 1e-12 * (ranks.rank == 1)
        results["astray"] = refusal(lambda: found(model, q, astray, 40))
        results["too_many"] = refusal(lambda: ar.lammps.through_lammps(melt(ranks.size - 1)))
        results["after"] = found(model, q, u, 4)["q"]
        if ranks.rank:
            np.savez(folder / f"rank-{ranks.rank}.npz", **results)
            ranks.serve(Instance)
            return
        results["alone"] = found(model, q, u, 40)["q"]
        results["shared_alone"] = shared[0] - int(results["shared_steps"])
    np.savez(folder / f"rank-{ranks.rank}.npz", **results)


if __name__ == "__main__":
    faulthandler.dump_traceback_later(250, exit=True)
    main(Path(sys.argv[1]))
