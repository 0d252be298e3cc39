"""The public functions: lock and release axes of joints, with the momentum as it was."""

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
"""The stream of random numbers that releases draw from."""
ENERGY_DRAW, DIRECTION_DRAW = 0, 1
"""Windows of the stream: the window of a draw is twice its number plus one of these."""


@dataclass(frozen=True, eq=False)
class Reservoir:
    """Energy and relative speeds of axes: what a lock took out, or a release put in."""

    axes: np.ndarray
    """Which speeds (nu,), bool."""
    speeds: np.ndarray
    """The relative speeds of these axes, zero elsewhere, shape (nu,)."""
    energy: float
    """Kinetic energy that went with them [energy]."""


@dataclass(frozen=True, eq=False)
class Transition:
    """Speeds after axes have been locked or released; the coordinates are as they were."""

    speeds: np.ndarray
    """u of the whole model, shape (nu,)."""
    locked: np.ndarray
    """Which speeds are locked afterwards (nu,), bool."""
    kept: Reservoir
    """What a lock took out, or a release put in."""
    energy_before: float
    """Kinetic energy before [energy]."""
    energy_after: float
    """Kinetic energy afterwards [energy]."""


def lock(
    model: Model, q: np.ndarray, u: np.ndarray, axes: Axes, *, locked: Any = None, time: float = 0.0
) -> Transition:
    """Lock axes of joints: the one set of speeds of the coarser model that has the momentum of the finer one.

    The momentum of every element, projected on the motions that the coarser model allows, stays as it was (Poursina
    2012, L^{c/c} = L^{f/c}): u_c is u_f projected, in the metric of the mass matrix, on the speeds that are zero at
    locked axes and keep all loops. No other speeds of the coarse model are nearer to u_f in that metric, and the energy
    never grows but by the work of driven joints. O(n), by divide and conquer.

    Parameters
    ----------
    model
        The model.
    q, u
        Coordinates (nq,) and speeds (nu,).
    axes
        What to lock: a body's name (all axes of the joint that carries it, and all its modes), ``("body", k)``,
        ``("body", "wx")`` or ``("body", "mode2")`` for one of them, a list of these, or a mask over the speeds (nu,),
        bool.
    locked
        What is locked already, in the same words; None is nothing.
    time
        At which driven coordinates are looked up [time].

    Returns
    -------
    Transition
        ``kept`` has the energy and the relative speeds that are lost, for :func:`release`.

    Raises
    ------
    TransitionError
        For an axis that does not exist, is locked already, is driven, or is needed by a loop, by their names.
    """
    q, speeds, time = _state(model, q, u, "lock", time)
    before = mask_of(model, locked, "lock, locked")
    changed = mask_of(model, axes, "lock")
    if not changed.any():
        raise TransitionError("lock: no axis is named; name a body, ('body', axis), or give a mask over the speeds")
    _refuse(model, changed & before, "lock: {} is locked already; name only axes that are free")
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
    # T_f − T_c = bᵀx + ½ xᵀS x: a difference of the two energies would leave nothing but their rounding on long chains.
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
    """Release locked axes: speeds of the finer model with the momentum of the coarser one and a given energy.

    Momentum leaves the relative speeds x (m,) of the released axes open: the speeds are u_c + W x, with W from
    L^{c/c} = L^{f/c}, and their energy is T_c + ½ xᵀS x, S the Schur complement of the mass matrix (with driven joints
    a linear term joins it). The energy leaves an ellipsoid of them, and ``choice`` says which point of it is taken.

    Parameters
    ----------
    model
        The model.
    q, u
        Coordinates (nq,) and speeds (nu,), zero at locked axes.
    axes
        What to release, in the words of :func:`lock`.
    choice
        ``"published"``: the least ‖u_f − u_c‖² (Poursina 2012, section 3). It puts all energy into one mode, the
        eigenvector of (W Wᵀ) x = λ S x with the smallest λ; of ±x, or of several such modes, that with most momentum at
        the first released axis. ``"nearest"``: the nearest to ``reference`` in a ``metric``. ``"canonical"``: a uniform
        draw on the ellipsoid. Or a function of the model's speeds (nu,) whose least value SciPy's SLSQP finds.
    metric
        Of ``"nearest"``: ``"euclidean"``, over all speeds of the model, or ``"mass"``, by the mass matrix, which needs
        a reference.
    energy
        Kinetic energy of the model afterwards [energy].
    temperature
        The kinetic temperature afterwards instead [temperature]: ½ k T for each degree of freedom of then.
    share
        Temperature of an equilibrium from which the released axes get their share instead, drawn with ``seed``: ½ k T
        times the sum of m squares of normal numbers, ½ m k T in the mean.
    reservoir
        What a lock of just these axes kept: its energy is put back unless one of the three above is given. Its relative
        speeds are the reference unless another is given.
    reference
        Relative speeds (nu,), read at the released axes; None is those of the reservoir, or zero.
    locked
        What is locked now, in the same words; None is just ``axes``.
    seed, draw
        Of the random numbers, and the number of the draw: the same two give the same speeds.

    Returns
    -------
    Transition
        ``kept`` has the energy and the relative speeds that were put in.

    Raises
    ------
    TransitionError
        For an axis that does not exist or is not locked, a target below the least energy that the momentum allows (it
        names that energy), the mass metric without a reference, or targets that do not go together.
    """
    q, speeds, _ = _state(model, q, u, "release", 0.0)
    changed = mask_of(model, axes, "release")
    if not changed.any():
        raise TransitionError("release: no axis is named; name a body, ('body', axis), or give a mask over the speeds")
    before = changed if locked is None else mask_of(model, locked, "release, locked")
    _refuse(model, changed & ~before, "release: {} is not locked; name only axes that are")
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
    if not placed >= least - choices.SLACK * coarse_energy:
        raise TransitionError(
            f"release: the kinetic energy asked for is {coarse_energy + placed:.9g}, and the momentum allows none "
            f"below {coarse_energy + least:.9g} {model.units.label('energy')}; ask for at least that"
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
    """Coordinates, speeds and a time that are what they should be; raises ModelError or TransitionError."""
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
        raise TransitionError(f"release, reservoir: expected what a lock kept, got {shown(reservoir)}")
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
    """The energy that goes to the released axes."""
    targets = {"energy": energy, "temperature": temperature, "share": share}
    named = [name for name, value in targets.items() if value is not None]
    if len(named) > 1:
        raise TransitionError(f"release: {' and '.join(named)} are targets of the same energy; give one of them")
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
                "release: the reservoir is that of other axes than are released, and how much of its energy is theirs "
                "is not known; release all of its axes, or give energy, temperature or share"
            )
        return reservoir.energy
    raise TransitionError(
        "release: how much energy the released axes get is not said; give energy, temperature, share, or the reservoir "
        "that the lock kept"
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
    """A locked axis does not move."""
    moving = locked & (speeds != 0.0)
    if moving.any():
        j = int(np.argmax(moving))
        raise TransitionError(
            f"{where}: {axis_name(model, j)} is not locked, its speed is {speeds[j]:.9g}; lock it first or leave it out"
        )
