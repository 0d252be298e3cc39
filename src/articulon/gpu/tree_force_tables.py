"""Tables of a model's forces for Warp's kernels, and the list of forces that the kernels support."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.forces.brownian import Brownian, brownian_of
from articulon.forces.gravity import Gravity
from articulon.forces.linear_flow import flows_unevenly
from articulon.forces.model_tables import force_tables
from articulon.forces.site_pairs import Pairs, SitePairs
from articulon.forces.solver_tables import Drag, Noise
from articulon.forces.stokes_drag import StokesDrag, drag_gradients
from articulon.forces.torsional_springs import Springs, TorsionalSprings
from articulon.gpu.devices import load_warp
from articulon.gpu.tree_tables import FLAT, INTEGER, TABLE, integers, reals, structure
from articulon.model import Model

wp = load_warp()

TAKEN = (Gravity, StokesDrag, Brownian, SitePairs, TorsionalSprings)
"""Forces with kernels."""


@cache
def force_structures(real: Any) -> tuple[Any, Any, Any, Any]:
    """Return the types of the tables of pairs, springs, drag and noise, with numbers of a precision."""
    pairs = structure(
        "SitePairRuns",
        "See ``Pairs`` in ``forces/site_pairs.py``; also positions of ground sites, and the sites of each link.",
        real,
        **dict.fromkeys(("link", "start", "low", "high", "carrier", "carried_start", "carried"), INTEGER),
        **dict.fromkeys(("local", "law", "standing"), TABLE),
    )
    springs = structure(
        "SpringRows",
        "Joint kind, first coordinate, first speed, stiffness and rest position of each spring.",
        real,
        **dict.fromkeys(("kind", "q", "u"), INTEGER),
        stiffness=FLAT,
        rest=TABLE,
    )
    drag = structure(
        "DragRows",
        "See ``Drag`` in ``forces/solver_tables.py``; β G by rows and ½ β_ω ∇×v_f of a flow with a gradient.",
        real,
        link=INTEGER,
        translational=FLAT,
        rotational=FLAT,
        **dict.fromkeys(("centre", "flow", "pull", "turn"), TABLE),
    )
    noise = structure(
        "NoiseRows",
        "See ``Noise`` in ``forces/solver_tables.py``; the amplitude is that of the mean of the fine windows.",
        wp.float64,
        amplitude=TABLE,
        **dict.fromkeys(("shape", "average", "stream"), wp.int32),
    )
    return pairs, springs, drag, noise


@dataclass(frozen=True)
class ForceTables:
    """The forces of a model on a device; None for a kind that the model lacks."""

    gravity: np.ndarray
    """Gravitational acceleration [length/time²], shape (3,)."""
    pairs: Any
    springs: Any
    drag: Any
    noise: Any
    sites: int
    """Number of moving sites."""
    carriers: int
    """Number of links with moving sites."""
    dragged: int
    """Number of bodies with drag."""
    window: float
    """Length of a held window of noise [time]; 0 without noise."""
    thermal: float
    """½ kT of all degrees of freedom [energy], where noise is at the instantaneous temperature; else 0."""


def check_forces(model: Model, where: str) -> None:
    """Raise ModelError for a force without a kernel; the message names the force."""
    kinds = ", ".join(str(kind.model_fields["kind"].default) for kind in TAKEN)
    for k, force in enumerate(model.forces):
        if not isinstance(force, TAKEN):
            raise ModelError(
                f"{where}: forces[{k}]: {getattr(force, 'kind', type(force).__name__)} has no kernels on a device, "
                f"unlike {kinds}; leave it out, or compute on the CPU"
            )
        if isinstance(force, SitePairs) and force.repulsion == "impact":
            raise ModelError(
                f"{where}: forces[{k}].repulsion: impacts are not supported on a device; set it to 'soft', or compute "
                "on the CPU"
            )


def tables_of(model: Model, held: float, real: Any, device: Any) -> ForceTables:
    """Return the forces of a model on a device; ``held`` is the time for which each noise value is kept [time]."""
    brownian = brownian_of(model)
    average = 1 if brownian is None else brownian.average
    found = force_tables(model, 0, held / average, average)
    pairs, springs = found.table(SitePairs), found.table(TorsionalSprings)
    moving = 0 if pairs is None else pairs.link.size
    dragged = found.drag.link.size
    noisy = bool(found.noise.choice[0]) and dragged > 0
    return ForceTables(
        found.gravity,
        _pairs(pairs, real, device) if moving else None,
        None if springs is None or not springs.link.size else _springs(model, springs, real, device),
        _drag(model, found.drag, real, device) if dragged else None,
        _noise(found.noise, real, device) if noisy else None,
        moving,
        np.unique(pairs.link).size if moving else 0,
        dragged,
        held if noisy else 0.0,
        0.5 * model.degrees_of_freedom * float(found.noise.bath[0]) if noisy and found.noise.choice[4] else 0.0,
    )


def _pairs(pairs: Pairs, real: Any, device: Any) -> Any:
    table = force_structures(real)[0]()
    for name in ("link", "start", "low", "high"):
        setattr(table, name, integers(getattr(pairs, name), device))
    table.local = reals(pairs.local, real, device)
    table.law = reals(pairs.law.reshape(-1, 3), real, device, "A, B or C of site pairs")
    table.standing = reals(pairs.place[:, pairs.link.size :].T.reshape(-1, 3), real, device)
    carrier, count = np.unique(pairs.link, return_counts=True)
    table.carrier = integers(carrier, device)
    table.carried_start = integers(np.concatenate([[0], np.cumsum(count)]), device)
    table.carried = integers(np.argsort(pairs.link, kind="stable"), device)
    return table


def _springs(model: Model, springs: Springs, real: Any, device: Any) -> Any:
    table, forest = force_structures(real)[1](), model.forest
    table.kind = integers(forest.kind[springs.link], device)
    table.q = integers(forest.q_start[springs.link], device)
    table.u = integers(forest.u_start[springs.link], device)
    table.stiffness, table.rest = (
        reals(springs.stiffness, real, device, "a stiffness"),
        reals(springs.rest, real, device),
    )
    return table


def _drag(model: Model, drag: Drag, real: Any, device: Any) -> Any:
    table = force_structures(real)[2]()
    table.link = integers(drag.link, device)
    for name in ("centre", "translational", "rotational", "flow"):
        what = f"{name} drag" if name.endswith("al") else ""
        setattr(table, name, reals(getattr(drag, name), real, device, what))
    pull, turn = np.zeros((0, 3)), np.zeros((0, 3))
    if flows_unevenly(model):
        G = drag_gradients(model)
        vorticity = np.stack([G[:, 2, 1] - G[:, 1, 2], G[:, 0, 2] - G[:, 2, 0], G[:, 1, 0] - G[:, 0, 1]], axis=1)
        pull = (drag.translational[:, None, None] * G).reshape(-1, 3)
        turn = 0.5 * drag.rotational[:, None] * vorticity
    table.pull, table.turn = reals(pull, real, device), reals(turn, real, device)
    return table


def _noise(noise: Noise, real: Any, device: Any) -> Any:
    table = force_structures(real)[3]()
    shape, average, _, stream, _ = noise.choice.tolist()
    # √(2βkT/Δ) of each fine window of length Δ, and the mean of the windows.
    size = 1.0 / (np.sqrt(noise.window[0]) * average)
    table.amplitude = reals(size * noise.amplitude, wp.float64, device)
    table.shape, table.average, table.stream = shape, average, stream
    return table
