"""Brownian forces and torques, held constant over numbered windows (Guy 2018, 3.11 and 5.15 to 5.17)."""

import math
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from articulon.algebra.vectors import add, apply, cross, load, load_from, load_matrix, scale, store_from
from articulon.declaration import Declaration, Dimension, Quantity, Whole
from articulon.dynamics.kinetic_energies import kinetic_energy
from articulon.errors import ModelError
from articulon.forces.solver_tables import Drag, Noise
from articulon.forces.stokes_drag import StokesDrag, drag_table
from articulon.kernels import jit
from articulon.model import Model
from articulon.model.joints import BY_KIND
from articulon.passes import pass_of
from articulon.rng import normal_pair, uniform_pair

SHAPES = {"normal": 1, "uniform": 2, "direction": 3}
STREAM = 1
"""Stream of random numbers from which Brownian forces draw."""


class Brownian(Declaration):
    """Random forces and torques on every body with Stokes drag, of variance 2 β k T/Δ per component (5.17).

    A force is constant over a window of length Δ, in world axes; windows are numbered from time zero. Forces held
    constant supply less than the thermal energy to a body if Δ is not short compared with its relaxation time τ = m/β:
    at the windows' boundaries ⟨½mv²⟩ is ½kT tanh(x)/x with x = Δ/2τ.
    """

    positional: ClassVar[tuple[str, ...]] = ("temperature",)
    is_force: ClassVar[bool] = True
    laplacian: ClassVar[str] = "known"
    kind: Literal["brownian"] = "brownian"
    temperature: Annotated[Quantity, Dimension("temperature", minimum=0)]
    """T of the medium [temperature]."""
    shape: Literal["normal", "uniform", "direction"] = "normal"
    """Distribution of a component: normal (3.11), uniform (5.16), or a random direction of constant magnitude (figure
    5.7)."""
    window: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """Δ of the finest windows [time]; by default a quarter of the fastest relaxation time, divided by a2, or the step
    of friction-implicit."""
    average: Annotated[Whole, Field(ge=1)] = 1
    """Number of fine windows averaged into one held force: a coarser window on the same noise path."""
    amplitude_from: Literal["bath", "instantaneous"] = "bath"
    """Whether T is the temperature of the medium (5.17) or the instantaneous kinetic temperature of the model (3.13).
    With the latter, a model at rest stays at rest."""
    dissipation: Literal["drag", "none"] = "drag"
    """With ``"none"`` the drag coefficient β sets the size of the forces, but the drag does not act. A thermostat then
    removes the heat from the Brownian forces, as in Guy (2018, chapter 3)."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError if the model has no Stokes drag."""
        if not any(isinstance(force, StokesDrag) for force in model.forces):
            raise ModelError(f"{where}: Brownian forces balance a drag (5.17); add stokes-drag")
        if sum(isinstance(force, Brownian) for force in model.forces) > 1:
            raise ModelError(
                f"{where}: Brownian forces are declared twice; one declaration serves every body with drag"
            )


def acting(drag: Drag, model: Model) -> Drag:
    """Return the drag of a model. If the drag only sets the size of the Brownian forces, this is a drag on no body."""
    force = brownian_of(model)
    if force is None or force.dissipation == "drag":
        return drag
    silent = {name: np.zeros_like(getattr(drag, name)) for name in ("mass", "moment", "inertia")}
    return drag._replace(
        translational=np.zeros_like(drag.translational), rotational=np.zeros_like(drag.rotational), **silent
    )


def brownian_of(model: Model) -> Brownian | None:
    """Return the model's Brownian forces, if any."""
    return next((force for force in model.forces if isinstance(force, Brownian)), None)


def fastest_relaxation(model: Model) -> float:
    """The shortest τ = m/β or I/β_ω of a body with drag [time]; infinity without such a body. Each body is considered
    alone, with its moment of inertia about its own centre of mass.
    """
    return min((min(pair) for pair in relaxation_times(model).values()), default=math.inf)


def relaxation_times(model: Model) -> dict[int, tuple[float, float]]:
    """τ = m/β and the shortest I/β_ω of every link with drag, by link number [time]; infinity if it has no drag of that
    kind."""
    drag = drag_table(model)
    if not drag.link.size:
        return {}
    forest = model.forest
    found: dict[int, tuple[float, float]] = {}
    for i in np.flatnonzero(drag.mass > 0.0).tolist():
        turn = math.inf
        if (drag.inertia[i, [0, 3, 5]] > 0.0).any():
            full = [0, 1, 2, 1, 3, 4, 2, 4, 5]
            c = forest.moment[i] / forest.mass[i]
            about = forest.inertia[i][full].reshape(3, 3) - forest.mass[i] * (c @ c * np.eye(3) - np.outer(c, c))
            d = drag.moment[i] / drag.mass[i]
            turning = drag.inertia[i][full].reshape(3, 3) - drag.mass[i] * (d @ d * np.eye(3) - np.outer(d, d))
            moments, drags = np.linalg.eigvalsh(about), np.linalg.eigvalsh(turning)
            if moments[0] > 0.0 and drags[-1] > 0.0:
                turn = float(moments[0] / drags[-1])
        found[i] = float(forest.mass[i] / drag.mass[i]), turn
    return found


def least_inertia(model: Model) -> float:
    """Smallest principal moment of inertia of a link that can rotate, about its own centre of mass [mass length²];
    infinity if none can rotate."""
    forest = model.forest
    able = np.isin(forest.kind, [kind for kind, joint in BY_KIND.items() if joint.rotates()])
    if not able.any():
        return math.inf
    full = forest.inertia[able][:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
    c = forest.moment[able] / forest.mass[able][:, None]
    spread = (c * c).sum(axis=1)[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :]
    moments = np.linalg.eigvalsh(full - forest.mass[able][:, None, None] * spread)
    return float(moments[moments > 0.0].min(initial=math.inf))


def noise_table(model: Model, drag: Drag, seed: int, window: float, average: int) -> Noise:
    """Noise table of a model; ``window`` [time] is the length of a fine window, and forces are averaged over
    ``average`` windows."""
    force = brownian_of(model)
    if force is None:
        return Noise(np.zeros((drag.link.size, 2)), np.ones(1), np.zeros(5, dtype=np.int64), np.zeros(1))
    kT = model.units.boltzmann * float(force.temperature)
    amplitude = np.sqrt(2.0 * kT * np.stack([drag.translational, drag.rotational], axis=1))
    choice = [SHAPES[force.shape], average, seed, STREAM, force.amplitude_from == "instantaneous"]
    return Noise(amplitude, np.array([window]), np.array(choice, dtype=np.int64), np.array([kT]))


@jit
def on_sphere(a, b):
    """A direction from two uniform numbers, times √3, so that each component has mean 0 and variance 1."""
    height, angle = 2.0 * a - 1.0, 2.0 * math.pi * b
    around = math.sqrt(3.0 * (1.0 - height * height))
    return (around * math.cos(angle), around * math.sin(angle), math.sqrt(3.0) * height)


@jit
def unit_pair(shape, seed, stream, window, index):
    """Two triples of random numbers of mean 0 and variance 1, of one of the published distributions, for body ``index``
    in a window."""
    if shape == 1:
        a, b = normal_pair(seed, stream, window, 3 * index)
        c, d = normal_pair(seed, stream, window, 3 * index + 1)
        e, f = normal_pair(seed, stream, window, 3 * index + 2)
        return (a, b, c), (d, e, f)
    a, b = uniform_pair(seed, stream, window, 3 * index)
    c, d = uniform_pair(seed, stream, window, 3 * index + 1)
    if shape == 3:
        return on_sphere(a, b), on_sphere(c, d)
    e, f = uniform_pair(seed, stream, window, 3 * index + 2)
    s = math.sqrt(12.0)
    return (s * (a - 0.5), s * (b - 0.5), s * (c - 0.5)), (s * (d - 0.5), s * (e - 0.5), s * (f - 0.5))


@jit
def noise_of_window(noise, seed, window, k):
    """Force and torque on the k-th body with drag in a held window: the mean of its fine windows."""
    amplitude, shape, average, stream = noise.amplitude, noise.choice[0], noise.choice[1], noise.choice[3]
    # √(2βkT/Δ) for each fine window of length Δ, averaged over the fine windows.
    size = 1.0 / (math.sqrt(noise.window[0]) * average)
    force, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for fine in range(window * average, (window + 1) * average):
        first, second = unit_pair(shape, seed, stream, fine, k)
        force, torque = add(force, first), add(torque, second)
    return scale(amplitude[k, 0] * size, force), scale(amplitude[k, 1] * size, torque)


@jit
def draw(noise, window, held):
    """Draw the forces and torques of a held window."""
    for k in range(noise.amplitude.shape[0]):
        force, torque = noise_of_window(noise, noise.choice[2], window, k)
        store_from(held, k, 0, force)
        store_from(held, k, 3, torque)


@jit
def noise_wrenches(drag, ws, held, size, wrench):
    """Add the held forces and torques, times ``size``, to the links' wrenches."""
    links, centres, rotation = drag.link, drag.centre, ws.rotation
    for k in range(links.size):
        i = links[k]
        force, torque = scale(size, load_from(held, k, 0)), scale(size, load_from(held, k, 3))
        moment = add(torque, cross(apply(load_matrix(rotation, i), load(centres, k)), force))
        store_from(wrench, i, 0, add(load_from(wrench, i, 0), force))
        store_from(wrench, i, 3, add(load_from(wrench, i, 3), moment))


@pass_of
def fill_noise(forest, drag, noise, window, degrees_of_freedom, ws, held, held_window, stochastic):
    """Add the Brownian forces of a window (1,) to the wrenches (links, 6); they are drawn once per window."""
    if held_window[0] != window[0]:
        draw(noise, window[0], held)
        held_window[0] = window[0]
    size = 1.0
    if noise.choice[4] != 0:
        size = math.sqrt(2.0 * kinetic_energy(forest, ws) / (degrees_of_freedom * noise.bath[0]))
    noise_wrenches(drag, ws, held, size, stochastic)
