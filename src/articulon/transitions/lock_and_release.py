"""Public functions that lock and release joint axes while conserving momentum."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.dynamics.armatures import refuse_armature
from articulon.dynamics.dca.masked_impulses import jumps
from articulon.dynamics.loops.loop_jacobians import loop_equations
from articulon.dynamics.multibody_functions import check_model, kinetic_energy, vector
from articulon.errors import CaseError, ModelError, TransitionError
from articulon.inputs import SEEDS, number, shown, whole
from articulon.inputs import seed as checked_seed
from articulon.model import Model
from articulon.rng import fill_normals
from articulon.transitions import choices
from articulon.transitions.axes import Axes, axis_name, mask_of
from articulon.transitions.relations import check_loops, generalised_momentum, relations

CHOICES = ("published", "nearest", "canonical")
METRICS = ("euclidean", "mass")
STREAM = 3
"""Random number stream of the releases."""
ENERGY_DRAW, DIRECTION_DRAW = 0, 1
"""Offsets of the two kinds of draws in the stream: a draw uses the window with twice the number of the draw, plus the
offset."""


@dataclass(frozen=True, eq=False)
class Reservoir:
    """Energy and relative speeds of axes that were removed by a lock or added by a release."""

    axes: np.ndarray
    """Mask of the speeds (nu,), bool."""
    speeds: np.ndarray
    """Relative speeds of these axes, and zero for all other speeds, shape (nu,)."""
    energy: float
    """Kinetic energy that was removed or added together with these speeds [energy]."""


@dataclass(frozen=True, eq=False)
class Transition:
    """Speeds after axes have been locked or released; the coordinates do not change."""

    speeds: np.ndarray
    """Speeds u of the whole model, shape (nu,)."""
    locked: np.ndarray
    """Mask of the speeds that are locked after the transition (nu,), bool."""
    kept: Reservoir
    """Energy and speeds removed by a lock, or added by a release."""
    energy_before: float
    """Kinetic energy before the transition [energy]."""
    energy_after: float
    """Kinetic energy after the transition [energy]."""


def lock(
    model: Model, q: np.ndarray, u: np.ndarray, axes: Axes, *, locked: Any = None, time: float = 0.0
) -> Transition:
    """Lock joint axes: find the speeds of the coarser model that have the momentum of the finer model.

    The momentum of every element, projected onto the motions of the coarser model, is conserved (Poursina 2012, L^{c/c}
    = L^{f/c}). The speeds u_c after the lock are zero at locked axes and satisfy all loop constraints. They are the
    projection of the speeds u_f before the lock onto such speeds, in the metric of the mass matrix: no speeds of the
    coarser model are nearer to u_f in this metric. The energy can increase only by the work of driven joints. The cost
    is O(n), by divide and conquer.

    Parameters
    ----------
    model
        The model.
    q, u
        Coordinates (nq,) and speeds (nu,).
    axes
        Axes to lock: a body's name (all axes of the joint that carries it, and all its modes), ``("body", k)``,
        ``("body", "wx")`` or ``("body", "mode2")`` for one axis or mode, a list of such selections, or a mask over the
        speeds (nu,), bool.
    locked
        Axes that are already locked, in the form of ``axes``; None if no axis is locked.
    time
        Time at which driven coordinates are evaluated [time].

    Returns
    -------
    Transition
        The new speeds. ``kept`` contains the removed energy and relative speeds, for :func:`release`.

    Raises
    ------
    TransitionError
        For an axis that does not exist, is already locked, is driven, or is needed by a loop; the message names it.
    """
    q, speeds, time = _state(model, q, u, "lock", time)
    before = mask_of(model, locked, "lock, locked")
    changed = mask_of(model, axes, "lock")
    if not changed.any():
        raise TransitionError("lock: no axis is given; give a body, ('body', axis), or a mask over the speeds")
    _refuse(model, changed & before, "lock: {} is already locked; name only free axes")
    _still(model, speeds, before, "lock")
    for drive in np.flatnonzero(model.loops.speed >= 0).tolist():
        if changed[model.loops.speed[drive]]:
            raise TransitionError(
                f"lock: {axis_name(model, int(model.loops.speed[drive]))} follows {model.loop_name(drive)}; an axis "
                "whose motion is given cannot be locked"
            )
    after, target = before | changed, None
    if model.loops.kind.size:
        target = -loop_equations(model, q, speeds, time).rate[None]
    found = jumps(model, q, after, np.where(after, -speeds, 0.0)[None], target)
    check_loops(model, q, before, changed, found)
    coarse = np.where(after, 0.0, speeds + found.speeds[0])
    # The energy is computed as bᵀx + ½ xᵀS x. For long chains, rounding errors would dominate the difference T_f − T_c.
    energy = -0.5 * float(speeds @ np.where(after, found.impulses[0], 0.0))
    if model.drives:
        energy -= float(found.speeds[0] @ generalised_momentum(model, q, coarse))
    kept = Reservoir(changed, np.where(changed, speeds, 0.0), energy)
    return Transition(coarse, after, kept, kinetic_energy(model, q, speeds), kinetic_energy(model, q, coarse))


def release(
    model: Model,
    q: np.ndarray,
    u: np.ndarray,
    axes: Axes,
    *,
    choice: str | Callable[[np.ndarray], float] = "nearest",
    metric: str = "euclidean",
    energy: float | str | None = None,
    temperature: float | str | None = None,
    share: float | str | None = None,
    reservoir: Reservoir | None = None,
    reference: np.ndarray | None = None,
    locked: Any = None,
    seed: int = 0,
    draw: int = 0,
) -> Transition:
    """Release locked axes: find speeds of the finer model with the momentum of the coarser model and a given energy.

    Conservation of momentum alone does not determine the relative speeds x (m,) of the released axes. With the speeds
    u_c and the energy T_c before the release, the speeds are u_c + W x, where W follows from L^{c/c} = L^{f/c}. Their
    energy is T_c + ½ xᵀS x, with S the Schur complement of the mass matrix; driven joints add a linear term. A given
    energy restricts x to an ellipsoid, and ``choice`` selects a point on it.

    Parameters
    ----------
    model
        The model.
    q, u
        Coordinates (nq,) and speeds (nu,), zero at locked axes.
    axes
        Axes to release, in the form of :func:`lock`.
    choice
        ``"published"``: the minimum of ‖u_f − u_c‖² with u_f = u_c + W x (Poursina 2012, section 3). It puts all energy
        into one mode, the eigenvector of (WᵀW) x = λ S x with the smallest λ. If x and −x, or several modes, are
        equivalent, the one with the largest momentum at the first released axis is taken. ``"nearest"``: the point
        nearest to ``reference`` in a ``metric``. ``"canonical"``: a uniform draw on the ellipsoid. Or a function of the
        model's speeds (nu,), which SciPy's SLSQP minimises.
    metric
        Metric of ``"nearest"``: ``"euclidean"``, over all speeds of the model, or ``"mass"``, the metric of the mass
        matrix. ``"mass"`` needs a reference.
    energy
        Kinetic energy of the model after the release [energy].
    temperature
        Kinetic temperature after the release, instead of ``energy`` [temperature]: ½ k T for each degree of freedom.
    share
        Temperature at which the energy of the released axes is drawn at random, instead of ``energy`` or
        ``temperature`` [temperature]. The energy is ½ k T times the sum of m squared normal numbers, on average ½ m k
        T.
    reservoir
        Result ``kept`` of a lock of exactly these axes. Its energy is restored unless ``energy``, ``temperature`` or
        ``share`` is given, and its relative speeds are the reference unless ``reference`` is given.
    reference
        Relative speeds (nu,); only the speeds of the released axes are used. None for the speeds of the reservoir, or
        for zero without a reservoir.
    locked
        Axes that are locked now, in the form of ``axes``; None for exactly ``axes``.
    seed, draw
        Seed of the random numbers, and number of the draw. The same pair of numbers gives the same speeds.

    Returns
    -------
    Transition
        The new speeds. ``kept`` contains the energy and the relative speeds that were added.

    Raises
    ------
    TransitionError
        For an axis that does not exist or is not locked, for the mass metric without a reference, or for conflicting
        targets. Also for a target below the minimum energy that the momentum allows; the message gives this energy.
    """
    q, speeds, _ = _state(model, q, u, "release", 0.0)
    changed = mask_of(model, axes, "release")
    if not changed.any():
        raise TransitionError("release: no axis is given; give a body, ('body', axis), or a mask over the speeds")
    before = changed if locked is None else mask_of(model, locked, "release, locked")
    _refuse(model, changed & ~before, "release: {} is not locked; name only locked axes")
    _still(model, speeds, before, "release")
    _check_choice(choice, metric, reference, reservoir)
    seed = checked_seed(seed, "release, seed", TransitionError)
    draw = whole(draw, "release, draw", least=0, most=SEEDS // 4, error=TransitionError)
    related = relations(model, q, before, changed)
    linear = np.zeros(len(related.schur))
    if model.drives:
        linear = related.columns @ generalised_momentum(model, q, speeds)
    coarse_energy = kinetic_energy(model, q, speeds)
    least = choices.least_energy(related.schur, linear)
    degrees_of_freedom = model.nu - int((before & ~changed).sum()) - related.rank
    placed = _placed(
        model, coarse_energy, changed, degrees_of_freedom, energy, temperature, share, reservoir, seed, draw
    )
    if not placed >= least - choices.ENERGY_ROUNDING * coarse_energy:
        raise TransitionError(
            f"release: the requested kinetic energy is {coarse_energy + placed:.9g}, but the momentum requires at "
            f"least {coarse_energy + least:.9g} {model.units.label('energy')}; request at least that"
        )
    surface = choices.ellipsoid(related.schur, linear, placed)
    if reference is None:
        wanted = np.zeros(model.nu) if reservoir is None else reservoir.speeds
    else:
        wanted = vector(reference, model.nu, "release, reference", TransitionError)
    if choice == "published":
        x = choices.published(related.metric, surface)
    elif choice == "canonical":
        x = choices.on_sphere(surface, _normals(len(linear), seed, draw, DIRECTION_DRAW))
    elif callable(choice):
        given = choice
        x = choices.optimised(lambda x: given(speeds + x @ related.columns), surface, wanted[changed])
    elif metric == "mass":
        x = choices.nearest_by_mass(surface, wanted[changed])
    else:
        x = choices.nearest(related.metric, surface, wanted[changed])
    fine = speeds + x @ related.columns
    fine[changed] = x
    relative = np.zeros(model.nu)
    relative[changed] = x
    after = before & ~changed
    return Transition(fine, after, Reservoir(changed, relative, placed), coarse_energy, kinetic_energy(model, q, fine))


def _state(model: Any, q: Any, u: Any, where: str, time: Any) -> tuple[np.ndarray, np.ndarray, float]:
    """Return validated coordinates, speeds and a time; raises ModelError or TransitionError if they are invalid."""
    check_model(model, where)
    try:
        refuse_armature(model, where)
    except ModelError as error:
        raise TransitionError(str(error)) from None
    return (
        vector(q, model.nq, f"{where}, q", TransitionError),
        vector(u, model.nu, f"{where}, u", TransitionError),
        number(time, f"{where}, time", TransitionError),
    )


def _check_choice(choice: Any, metric: str, reference: Any, reservoir: Reservoir | None) -> None:
    if not callable(choice) and not (isinstance(choice, str) and choice in CHOICES):
        raise TransitionError(
            f"release: unknown choice {shown(choice)}; choose one of {', '.join(CHOICES)}, or give a function of the "
            "speeds"
        )
    if not (isinstance(metric, str) and metric in METRICS):
        raise TransitionError(f"release: unknown metric {shown(metric)}; choose one of {', '.join(METRICS)}")
    if reservoir is not None and not isinstance(reservoir, Reservoir):
        raise TransitionError(f"release, reservoir: expected the result 'kept' of a lock, got {shown(reservoir)}")
    if choice == "nearest" and metric == "mass" and reference is None and reservoir is None:
        choices.refuse_mass_without_reference()


def _placed(
    model: Model,
    coarse_energy: float,
    changed: np.ndarray,
    degrees_of_freedom: int,
    energy: float | str | None,
    temperature: float | str | None,
    share: float | str | None,
    reservoir: Reservoir | None,
    seed: int,
    draw: int,
) -> float:
    """Return the kinetic energy that the released axes get [energy]."""
    targets = {"energy": energy, "temperature": temperature, "share": share}
    named = [name for name, value in targets.items() if value is not None]
    if len(named) > 1:
        raise TransitionError(f"release: {' and '.join(named)} are targets of the same energy; give only one")
    units = model.units
    if energy is not None:
        return _quantity(model, energy, "energy", "energy") - coarse_energy
    if temperature is not None:
        T = _temperature(model, temperature, "temperature")
        return 0.5 * degrees_of_freedom * units.boltzmann * T - coarse_energy
    if share is not None:
        T = _temperature(model, share, "share")
        normals = _normals(int(changed.sum()), seed, draw, ENERGY_DRAW)
        return 0.5 * units.boltzmann * T * float(normals @ normals)
    if reservoir is not None:
        if not np.array_equal(reservoir.axes, changed):
            raise TransitionError(
                "release: the reservoir belongs to other axes than those released, and their share of its energy "
                "is not known; release all of its axes, or give energy, temperature or share"
            )
        return reservoir.energy
    raise TransitionError(
        "release: no energy target is given; give energy, temperature, share, or the reservoir that the lock kept"
    )


def _temperature(model: Model, value: float | str, name: str) -> float:
    T = _quantity(model, value, "temperature", name)
    if T < 0.0:
        raise TransitionError(f"release: {name} must not be negative, got {shown(value)}; give a temperature")
    return T


def _quantity(model: Model, value: Any, dimension: str, name: str) -> float:
    try:
        return model.units.value(value, dimension, f"release, {name}")
    except CaseError as error:
        raise TransitionError(str(error)) from None


def _normals(count: int, seed: int, draw: int, which: int) -> np.ndarray:
    result = np.empty(count)
    fill_normals(seed, STREAM, 2 * draw + which, result)
    return result


def _refuse(model: Model, wrong: np.ndarray, message: str) -> None:
    if wrong.any():
        raise TransitionError(message.format(axis_name(model, int(np.argmax(wrong)))))


def _still(model: Model, speeds: np.ndarray, locked: np.ndarray, where: str) -> None:
    """Raise TransitionError unless locked axes have zero speed."""
    moving = locked & (speeds != 0.0)
    if moving.any():
        j = int(np.argmax(moving))
        raise TransitionError(
            f"{where}: {axis_name(model, j)} is given as locked, but its speed is {speeds[j]:.9g}; lock it first or "
            "leave it out"
        )
