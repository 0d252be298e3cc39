"""Derivatives of the accelerations of models with loops and driven joints.

The forces of the rows of ``loops/conditions.py`` are Jᵀ λ, and every row satisfies φ'' = J u' + … = 0. With D the
derivative of the joints' forces at fixed u', C that of Jᵀ λ at fixed λ, and G that of φ'' at fixed u',

    M δu' = δτ − (D − C) δq + Jᵀ δλ,   J δu' + G δq = 0,

and so J M⁻¹ Jᵀ δλ = −G δq − J M⁻¹ (δτ − (D − C) δq). The pseudo-inverse leaves out rows that depend on others.

A row compares a point or a direction of link b with a direction n of link a. Its condition does not change when one
joint moves both links. So a joint that carries a alone acts like one that carries b alone, with the opposite sign.
"""

from typing import NamedTuple

import numpy as np

from articulon.dynamics.derivatives.common_ancestors import carriers, link_of_speed
from articulon.dynamics.derivatives.motion_columns import FIRST, SECOND, SHIFT, SPEED
from articulon.dynamics.joints import DEGREES_OF_FREEDOM, FIXED_IN_BODY
from articulon.model import Forest, Loops, Workspace
from articulon.model.joints.base import TRANSLATION
from articulon.model.loop_declarations import DRIVE

SINGULAR = 1e-10
"""Eigenvalues of J M⁻¹ Jᵀ below this, with rows scaled to a unit diagonal, belong to rows that depend on others."""


class Moving(NamedTuple):
    """Motions about a point, one per row: angular and linear part."""

    w: np.ndarray
    v: np.ndarray


class LoopTerms(NamedTuple):
    """Terms of the rows in the derivatives."""

    jacobian: np.ndarray
    """Jacobian J, shape (rows, nu)."""
    by_q: np.ndarray
    """∂φ''/∂q at fixed u', shape (rows, nu)."""
    by_u: np.ndarray
    """∂φ''/∂u at fixed u', shape (rows, nu)."""


class Sides(NamedTuple):
    """The speeds that move one link of a row relative to the other."""

    speed: np.ndarray
    """Indices of the speeds, shape (n,)."""
    sign: np.ndarray
    """1 where the speed carries b, −1 where it carries a, shape (n,)."""


class LinkedModel(NamedTuple):
    """A forest with known poses and velocities, with its columns and accelerations."""

    forest: Forest
    loops: Loops
    ws: Workspace
    columns: np.ndarray
    """Columns of the joints (see ``motion_columns.py``), shape (nu, 24)."""
    acceleration: np.ndarray
    """Spatial accelerations of the links, shape (links, 6)."""
    gravity: np.ndarray
    """Acceleration of free fall, shape (3,)."""

    def speeds_of(self, link: int) -> range:
        """Speeds of a link's joint."""
        first = int(self.forest.u_start[link])
        return range(first, first + DEGREES_OF_FREEDOM[int(self.forest.kind[link])])

    def sides(self, row: int) -> Sides:
        """Speeds that carry only one of a row's links."""
        b, a = (carriers(self.forest, int(link[row])) for link in (self.loops.link_b, self.loops.link_a))
        found = [(k, 1.0) for link in b if link not in a for k in self.speeds_of(link)]
        found += [(k, -1.0) for link in a if link not in b for k in self.speeds_of(link)]
        speed = np.array([k for k, _ in found], dtype=np.int64)
        return Sides(speed, np.array([sign for _, sign in found]))

    def about(self, x: np.ndarray, speed: np.ndarray, link: np.ndarray, part: int) -> Moving:
        """A part of several columns, as motions about a point in the world."""
        w, v = self.columns[speed, part : part + 3], self.columns[speed, part + 3 : part + 6]
        return Moving(w, v + np.cross(w, x - self.ws.position[link]))

    def motion(self, link: int, x: np.ndarray) -> tuple[Moving, Moving]:
        """Velocity and acceleration of a link about a point in the world; −1 is the ground."""
        if link < 0:
            return Moving(np.zeros(3), np.zeros(3)), Moving(np.zeros(3), -self.gravity)
        r = x - self.ws.position[link]
        w, v = self.ws.twist[link, 3:], self.ws.twist[link, :3]
        alpha, a = self.acceleration[link, :3], self.acceleration[link, 3:]
        return Moving(w, v + np.cross(w, r)), Moving(alpha, a + np.cross(alpha, r))

    def turned(self, link: int, v: np.ndarray) -> np.ndarray:
        """A direction fixed in a link, in world axes."""
        return v if link < 0 else self.ws.rotation[link].reshape(3, 3) @ v

    def point(self, row: int) -> np.ndarray:
        """The point of a row on link b, in the world."""
        b = int(self.loops.link_b[row])
        origin = np.zeros(3) if b < 0 else self.ws.position[b]
        found: np.ndarray = origin + self.turned(b, self.loops.point_b[row])
        return found


def loop_terms(linked: LinkedModel) -> LoopTerms:
    """J and the derivatives of φ'' for every row."""
    rows, n = linked.loops.kind.size, len(linked.columns)
    found, link_of = LoopTerms(*np.zeros((3, rows, n))), link_of_speed(linked.forest)
    for r in range(rows):
        if linked.loops.kind[r] == DRIVE:
            found.jacobian[r, linked.loops.speed[r]] = 1.0
            continue
        speed, sign = linked.sides(r)
        x, a, b = linked.point(r), int(linked.loops.link_a[r]), int(linked.loops.link_b[r])
        parts = (SHIFT, FIRST, SECOND, SPEED)
        s, first, second, rate = (linked.about(x, speed, link_of[speed], part) for part in parts)
        n_a, translates = linked.turned(a, linked.loops.fixed[r]), linked.loops.kind[r] == TRANSLATION
        (va, aa), (vb, ab) = linked.motion(a, x), linked.motion(b, x)
        dw = vb.w - va.w
        # Derivatives of b's motion at the row's point, which moves with b, with respect to the displacement and speed
        # of a column.
        w_q, w_u = np.cross(s.w, vb.w) + first.w, s.w
        if translates:
            j = s.v
            v_q, v_u = np.cross(s.w, vb.v) + first.v, s.v
            a_q = np.cross(s.w, ab.v) + second.v - np.cross(vb.w, first.v) - np.cross(vb.v, first.w)
            a_u = rate.v - np.cross(vb.w, s.v) - np.cross(vb.v, s.w)
            by_q = a_q - np.cross(aa.w, s.v) + np.cross(w_q, vb.v) + np.cross(dw, v_q)
            by_q -= np.cross(va.w, v_q - np.cross(va.w, s.v))
            by_u = a_u + np.cross(w_u, vb.v) + np.cross(dw, v_u) - np.cross(va.w, v_u)
        else:
            m = linked.turned(b, linked.loops.moving[r])
            j, m_q = np.cross(s.w, m), np.cross(s.w, m)
            alpha_q = np.cross(s.w, ab.w) + second.w - np.cross(vb.w, first.w)
            alpha_u = rate.w - np.cross(vb.w, s.w)
            by_q = np.cross(alpha_q, m) + np.cross(ab.w - aa.w, m_q)
            by_q += np.cross(w_q, np.cross(vb.w, m)) + np.cross(dw, np.cross(w_q, m) + np.cross(vb.w, m_q))
            by_q -= np.cross(va.w, np.cross(w_q, m) + np.cross(dw, m_q))
            by_u = np.cross(alpha_u, m) + np.cross(w_u, np.cross(vb.w, m)) + np.cross(dw, np.cross(w_u, m))
            by_u -= np.cross(va.w, np.cross(w_u, m))
        for whole, part in zip(found, (j, by_q, by_u), strict=True):
            whole[r, speed] = sign * (part @ n_a)
    return found


def force_changes(linked: LinkedModel, multiplier: np.ndarray) -> np.ndarray:
    """Derivative ∂(Jᵀλ)/∂q at fixed λ (nu, nu)."""
    n, link_of = len(linked.columns), link_of_speed(linked.forest)
    result = np.zeros((n, n))
    moved = _moved_by(linked, link_of)
    for r in np.flatnonzero(linked.loops.kind != DRIVE):
        k, sign = linked.sides(int(r))
        a, b = (carriers(linked.forest, int(of[r])) for of in (linked.loops.link_a, linked.loops.link_b))
        t = np.array([c for link in {*a, *b} for c in linked.speeds_of(link)], dtype=np.int64)
        on_a, on_b = np.isin(link_of[t], a), np.isin(link_of[t], b)
        x, n_a = linked.point(int(r)), linked.turned(int(linked.loops.link_a[r]), linked.loops.fixed[r])
        own, other = linked.about(x, k, link_of[k], SHIFT), linked.about(x, t, link_of[t], SHIFT)
        carried = moved[np.ix_(k, t)][..., None]
        kw, kv, tw, tv = own.w[:, None], own.v[:, None], other.w[None], other.v[None]
        if linked.loops.kind[r] == TRANSLATION:
            value = np.broadcast_to(kv, (k.size, t.size, 3))
            change = carried * (np.cross(tw, kv) + np.cross(tv, kw)) + on_b[:, None] * np.cross(kw, tv)
        else:
            m = linked.turned(int(linked.loops.link_b[r]), linked.loops.moving[r])
            value = np.broadcast_to(np.cross(kw, m), (k.size, t.size, 3))
            change = carried * np.cross(np.cross(tw, kw), m) + on_b[:, None] * np.cross(kw, np.cross(tw, m))
        turned = on_a[:, None] * np.cross(other.w, n_a)
        whole = change @ n_a + np.einsum("kti,ti->kt", value, turned)
        result[np.ix_(k, t)] += multiplier[r] * sign[:, None] * whole
    return result


def _moved_by(linked: LinkedModel, link_of: np.ndarray) -> np.ndarray:
    """Whether column k moves when the joint of speed t is displaced, shape (nu, nu) for (k, t)."""
    n = link_of.size
    found = np.zeros((n, n))
    for k in range(n):
        link = int(link_of[k])
        for carrier in carriers(linked.forest, link)[1:]:
            found[k, list(linked.speeds_of(carrier))] = 1.0
        fixed = FIXED_IN_BODY[int(linked.forest.kind[link])] >> (k - int(linked.forest.u_start[link])) & 1
        found[k, list(linked.speeds_of(link))] = float(fixed)
    return found


def constrained(
    linked: LinkedModel, dq: np.ndarray, du: np.ndarray, inverse: np.ndarray, force: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """∂u'/∂q, ∂u'/∂u and ∂u'/∂τ (nu, nu), from the derivatives of the joint forces, M⁻¹, and the forces of the loops on
    the joints, Jᵀλ (nu,)."""
    terms = loop_terms(linked)
    answer = answer_of_rows(terms.jacobian, inverse)
    return held(terms, answer, dq - force_changes(linked, multipliers(answer, force)), du, inverse)


class RowAnswer(NamedTuple):
    """Response of the rows to forces that would violate them."""

    gain: np.ndarray
    """(J M⁻¹ Jᵀ)⁺ J M⁻¹: the decrease of λ with a force, shape (rows, nu)."""
    driven: np.ndarray
    """M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁺: the acceleration for a given φ'' of each row, shape (nu, rows)."""


def answer_of_rows(J: np.ndarray, inverse: np.ndarray) -> RowAnswer:
    """Response of the rows, from J (rows, nu) and M⁻¹ (nu, nu)."""
    across = J @ inverse @ J.T
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(across), 1e-300))
    scale[np.diagonal(across) <= 0.0] = 0.0
    solve = scale[:, None] * np.linalg.pinv(across * np.outer(scale, scale), rcond=SINGULAR, hermitian=True) * scale
    return RowAnswer(solve @ J @ inverse, inverse @ J.T @ solve)


def multipliers(answer: RowAnswer, force: np.ndarray) -> np.ndarray:
    """Multipliers λ (rows,) of the forces that the rows exert on the joints, Jᵀλ (nu,)."""
    found: np.ndarray = answer.gain @ force
    return found


def held(
    terms: LoopTerms, answer: RowAnswer, by_q: np.ndarray, by_u: np.ndarray, inverse: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """∂u'/∂q, ∂u'/∂u and ∂u'/∂τ (nu, nu), from the derivatives of the joint forces minus those of the rows, D − C and
    ∂τ/∂u."""
    allowed = inverse - answer.driven @ terms.jacobian @ inverse
    return -allowed @ by_q - answer.driven @ terms.by_q, -allowed @ by_u - answer.driven @ terms.by_u, allowed
