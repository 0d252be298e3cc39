"""Derivatives of the gradient of ln det M, by steps along the imaginary axis (``complex_steps.py``), in O(n).

Let g be the gradient of ln det M along the speeds (``mass_determinant.py``). The change of g with the coordinates, the
links and their joint frames is found by complex steps: the sweeps that compute g run in complex numbers, and the
imaginary part of their input is h times the change. The imaginary part of the result, divided by h, is the change of g.

With joint speeds λ held fixed, λ·g is the derivative of ln det M along λ. Since second derivatives commute, the
derivative of λ·g with respect to any variable is the derivative, along λ, of ∂ ln det M with respect to that variable.
So one complex displacement along λ gives the derivatives with respect to all variables. For a link's inertia I and its
position along a motion s,

    ∂/∂I:  G, the compliance J M⁻¹ Jᵀ of the link, since ln det M changes by tr(G dI),
    ∂/∂s:  −2 tr(G⁺ Iᵃ [s×]), with G⁺ the compliance of the parent about the link's origin, Iᵃ the inertia that the link
    passes on to its parent (``mass_determinant.py``), and s the motion of all that a joint carries when its frame
    slides or rotates.

Rotations do not commute. Let δ and λ be angular velocities of one joint in the body frame. The derivative of λ·g along
δ exceeds that of δ·g along λ by the derivative of ln det M along δ × λ, (δ × λ)·g = δ·(λ × g). So the derivative with
respect to a rotation has the additional term λ × g.
"""

from typing import NamedTuple

import numpy as np

from articulon.algebra.rotations import load_quaternion, product
from articulon.algebra.vectors import (
    add,
    apply_t,
    cross,
    load,
    load_at,
    load_matrix,
    scale,
    symmetric_rotate,
    transpose,
)
from articulon.dynamics import joints
from articulon.dynamics.derivatives.complex_steps import STEP, complex_arrays
from articulon.dynamics.kinematics import coordinate_rates, place
from articulon.dynamics.mass_determinant import (
    Determinant,
    carried_parts,
    determinant_arrays,
    gradient_and_compliance,
    load_inertia,
    log_determinant_gradient,
    product_trace,
)
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


@pass_of
def determinant_force_adjoint(forest, q, weight, factor, energy, links, by_coordinate, by_energy):
    """Add the derivatives of the power c E λ·g with respect to the coordinates in their tangent space (nu,) and to E
    (1,). Here λ is the ``weight`` (nu,), g the gradient of ln det M at q, and the numbers c and E are in ``factor`` and
    ``energy`` (1,)."""
    h = STEP / max(1.0, largest(weight))
    links.step[0] = h
    place_displaced(forest, q, weight, links)
    gradient_and_compliance(links.forest, links.ws, links.determinant, True)
    gradient, c = links.determinant.gradient, factor * energy[0]
    for k in range(weight.size):
        by_coordinate[k] += c * (gradient[k].imag / h)
        by_energy[0] += factor * weight[k] * gradient[k].real
    for i in range(forest.parent.size):
        plain = joints.quaternion(forest.kind[i])
        if plain >= 0:
            k = forest.u_start[i] + plain
            turned = cross(load_at(weight, k), load_at(gradient, k))
            for m in range(3):
                by_coordinate[k + m] += c * turned[m].real


@pass_of
def determinant_force_by_links(forest, factor, energy, links, by_links):
    """Add to the arrays ``by_links`` the derivatives of c E λ·g with respect to masses, first moments and inertias of
    links, and positions and rotations of joint frames. Call it after :func:`determinant_force_adjoint`."""
    by_mass, by_moment, by_inertia, position, turn = by_links
    ws, arrays, c = links.ws, links.determinant, factor * energy[0] / links.step[0]
    for i in range(forest.parent.size):
        R = load_matrix(ws.rotation, i)
        V, X, W = load_inertia(arrays.compliance, i)
        by_mass[i] += c * (V[0] + V[3] + V[5]).imag
        h = apply_t(R, (X[1][2] - X[2][1], X[2][0] - X[0][2], X[0][1] - X[1][0]))
        W = symmetric_rotate(transpose(R), W)
        for k in range(3):
            by_moment[i, k] += 2.0 * c * h[k].imag
        for k in range(6):
            by_inertia[i, k] += (1.0 if k == 0 or k == 3 or k == 5 else 2.0) * c * W[k].imag
        p = forest.parent[i]
        if p >= 0:
            V, X, W, A, H, M = carried_parts(links.forest, ws, arrays, i)
            n, f = product_trace(V, X, W, A, H, M)
            parent = load_matrix(ws.rotation, p)
            # From the link's origin to that of the joint frame, in the frame of the parent.
            arm = apply_t(parent, load(ws.reach, i))
            n, f = apply_t(parent, n), apply_t(parent, f)
            offset = load(links.forest.position, i)
            arm = (arm[0] - offset[0], arm[1] - offset[1], arm[2] - offset[2])
            n = add(n, cross(arm, f))
            n, f = scale(-2.0, n), scale(-2.0, f)
            for k in range(3):
                turn[i, k] += c * n[k].imag
                position[i, k] += c * f[k].imag
