"""The tangent of forces c E ∂ ln det M, by steps along the imaginary axis (``complex_steps.py``), in O(n).

Let g be the gradient of ln det M along the speeds (``mass_determinant.py``). The change of g with the coordinates, the
links and their joint frames is found by complex steps: the sweeps that compute g run in complex numbers, and the
imaginary part of their input is h times the change. The imaginary part of the result, divided by h, is the change of g.
``determinant_adjoint.py`` has the adjoint.
"""

from typing import NamedTuple

import numpy as np

from articulon.algebra.rotations import load_quaternion, product
from articulon.algebra.vectors import load
from articulon.dynamics.derivatives.complex_steps import STEP, complex_arrays
from articulon.dynamics.kinematics import coordinate_rates, place
from articulon.dynamics.mass_determinant import Determinant, determinant_arrays, log_determinant_gradient
from articulon.kernels import jit
from articulon.model import Forest, Workspace, workspace
from articulon.passes import pass_of


class DisplacedLinks(NamedTuple):
    """Links that are displaced along the imaginary axis, and scratch for ln det M; it is not part of the state."""

    forest: Forest
    """The links, in complex numbers."""
    q: np.ndarray
    """Complex coordinates, shape (nq,)."""
    rate: np.ndarray
    """Change of the coordinates, Euler parameters as four numbers, shape (nq,)."""
    ws: Workspace
    determinant: Determinant
    step: np.ndarray
    """Size of the displacement, shape (1,)."""


def displaced_links(forest: Forest, nq: int, nu: int) -> DisplacedLinks:
    """Allocate the arrays for a model."""
    ws, determinant = complex_arrays(workspace(forest)), complex_arrays(determinant_arrays(forest.mass.size, nu))
    return DisplacedLinks(complex_arrays(forest), np.zeros(nq, complex), np.zeros(nq), ws, determinant, np.zeros(1))


@jit
def largest(numbers):
    """The largest magnitude in an array of one dimension."""
    found = 0.0
    for k in range(numbers.size):
        found = max(found, abs(numbers[k]))
    return found


@jit
def largest_change(forest, shift, changes):
    """The largest of these changes: of a coordinate or joint frame; of a link's mass or first moment, divided by its
    mass; of its inertia, divided by its largest moment of inertia. For links without mass, the largest mass and moment
    of inertia of all links are the divisors."""
    mass, moment, inertia, position, turn = changes
    found, heaviest, stiffest = largest(shift), largest(forest.mass), 0.0
    for i in range(forest.parent.size):
        stiffest = max(stiffest, largest(forest.inertia[i]))
    for i in range(forest.parent.size):
        found = max(found, max(largest(position[i]), largest(turn[i])))
        weight = forest.mass[i] if forest.mass[i] > 0.0 else heaviest
        own = largest(forest.inertia[i])
        own = own if own > 0.0 else stiffest
        if weight > 0.0:
            found = max(found, max(abs(mass[i]), largest(moment[i])) / weight)
        if own > 0.0:
            found = max(found, largest(inertia[i]) / own)
    return found


@jit
def place_displaced(forest, q, shift, links):
    """Place the links at coordinates that are displaced by ``shift`` (nu,), in their tangent space."""
    coordinate_rates(forest, q, shift, links.rate)
    for k in range(q.size):
        links.q[k] = complex(q[k], links.step[0] * links.rate[k])
    place(links.forest, links.q, links.ws, 0, forest.parent.size)


@pass_of
def determinant_force_tangent(forest, q, shift, changes, factor, energy, energy_change, links, joint):
    """Add the change of the force c E g to ``joint`` (nu,), with g the gradient of ln det M at q. The number c is in
    ``factor``; the energy E and its change are in ``energy`` and ``energy_change`` (1,). The force changes by a shift
    of the coordinates in their tangent space (nu,), and by ``changes`` of masses, first moments and inertias of links,
    and of positions and rotations of joint frames."""
    mass, moment, inertia, position, turn = changes
    h = STEP / max(1.0, largest_change(forest, shift, changes))
    own, links.step[0] = links.forest, h
    for i in range(forest.parent.size):
        own.mass[i] = complex(forest.mass[i], h * mass[i])
        e, t = load_quaternion(forest.rotation, i), load(turn, i)
        turned = product((0.0, 0.5 * t[0], 0.5 * t[1], 0.5 * t[2]), e)
        for k in range(3):
            own.moment[i, k] = complex(forest.moment[i, k], h * moment[i, k])
            own.position[i, k] = complex(forest.position[i, k], h * position[i, k])
        for k in range(4):
            own.rotation[i, k] = complex(e[k], h * turned[k])
        for k in range(6):
            own.inertia[i, k] = complex(forest.inertia[i, k], h * inertia[i, k])
    place_displaced(forest, q, shift, links)
    log_determinant_gradient(own, links.ws, links.determinant)
    gradient = links.determinant.gradient
    for k in range(joint.size):
        joint[k] += factor * (energy[0] * (gradient[k].imag / h) + energy_change[0] * gradient[k].real)
