"""The passes that compute derivatives for a state."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from articulon.dynamics.armatures import kept_solution
from articulon.dynamics.derivatives import composites, inverse_mass, motion_columns, products
from articulon.dynamics.derivatives.common_ancestors import common_of, fill_common, link_of_speed
from articulon.dynamics.derivatives.composites import WRENCH_WIDTH
from articulon.dynamics.derivatives.force_jacobians import fill_force_jacobians, put
from articulon.dynamics.derivatives.inverse_mass import apply_inverse, apply_inverse_to_rows, factorise_mass
from articulon.dynamics.derivatives.motion_columns import find_columns, find_columns_apart
from articulon.dynamics.derivatives.product_sweeps import LOADED, product_passes, transposed_product_passes
from articulon.dynamics.state_functions import At, Definition, Shape, moving
from articulon.kernels import jit
from articulon.lane_registers import store_run
from articulon.lanes import WIDTH, LaneArray, fused, lane_of
from articulon.model import Forest, Model, Workspace
from articulon.passes import Bound, pass_of

MULTIPLIED = 128
"""Largest number of speeds for which derivatives are multiplied by the matrix M⁻¹; beyond it the recursion is
faster."""


@jit
def clear_blocks(blocks):
    for b in range(blocks.shape[0]):
        for i in range(blocks.shape[1]):
            for lane in range(blocks.shape[2]):
                blocks[b, i, lane] = 0.0


@jit
def take_loads(loads, given):
    """Copies the given loads, before those of the carried links are added to them."""
    for i in range(loads.shape[0]):
        for k in range(loads.shape[1]):
            loads[i, k] = given[i, k]


@pass_of
def find_motion_columns(forest, u, udot, gravity, ws, columns, acceleration):
    """Columns of the joints, and accelerations of links with known poses and velocities."""
    find_columns(forest, u, udot, gravity, ws, columns, acceleration, 0, forest.parent.size)


@pass_of
def find_separate_columns(forest, u, udot, ws, moving, resting, acceleration):
    """Columns of links that move, and of the same links at rest with their accelerations."""
    find_columns_apart(forest, u, udot, ws, moving, resting, acceleration)


@pass_of
def find_force_jacobians(forest, wrench, ws, columns, acceleration, composite, loads, given, common, rows):
    """∂τ/∂q and ∂τ/∂u in blocks of columns: the first two parts of ``rows``."""
    clear_blocks(common.dq)
    clear_blocks(common.du)
    take_loads(loads, given)
    fill_force_jacobians(forest, wrench, ws, columns, acceleration, composite, loads, common)
    fill_common(forest, ws, columns, common, rows)


@pass_of
def find_transposed_products(
    forest, wrench, ws, columns, acceleration, composite, loads, given, weight, motion, rows, dq, du
):
    """The products weightᵀ ∂τ/∂q and weightᵀ ∂τ/∂u (nu,)."""
    take_loads(loads, given)
    products.transposed_products(
        forest, wrench, ws, columns, acceleration, composite, loads, weight, motion, rows, dq, du
    )


@pass_of
def find_products(
    forest, wrench, ws, columns, acceleration, composite, loads, given, shift, speed, changes, force, dtau
):
    """Replaces δτ by δτ − (∂τ/∂q δq + ∂τ/∂u δu) (nu,)."""
    take_loads(loads, given)
    products.products(forest, wrench, ws, columns, acceleration, composite, loads, shift, speed, changes, force, dtau)


@pass_of
def copy_row(source, target):
    """Copies one row of numbers to another."""
    for k in range(source.size):
        target[k] = source[k]


@pass_of
def factorise(forest, columns, articulated, factors):
    """Factors of M⁻¹."""
    factorise_mass(forest, columns, articulated, None, factors)


@pass_of
def factorise_with(forest, columns, articulated, diagonal, factors):
    """Factors of M⁻¹, with a diagonal of joint space (nu,) added to M."""
    factorise_mass(forest, columns, articulated, diagonal, factors)


def factorising(
    model: Model, forest: Forest, columns: np.ndarray, articulated: np.ndarray, factors: np.ndarray
) -> Bound:
    """The pass that finds the factors of M⁻¹, with the armatures of a model."""
    if model.armature is None:
        return factorise.bind(forest, columns, articulated, factors)
    return factorise_with.bind(forest, columns, articulated, model.armature.copy(), factors)


@pass_of
def solve_rows(forest, ws, columns, factors, rows, force):
    """Multiplies every row of generalised forces (rows, nu) by M⁻¹, in place."""
    for b in range(rows.shape[0]):
        apply_inverse(forest, ws, columns, factors, rows, b, forest.parent.size - 1, force)


@pass_of
def solve_blocks(forest, ws, columns, factors, rows, last, force):
    """Multiplies blocks of columns, lanes (blocks, nu), by M⁻¹, up to the links ``last``; ``force`` (2 links, 6) is
    scratch."""
    apply_inverse_to_rows(forest, ws, columns, factors, rows, last, force)


@pass_of
def invert_mass(forest, ws, columns, factors, rows, numbers, last, force, result):
    """The inverse M⁻¹ (nu, nu), from the identity matrix in blocks of columns, lanes ``rows`` (blocks, nu). Entries
    that follow by symmetry are not computed."""
    clear_blocks(numbers)
    size, n = rows.shape[0], result.shape[0]
    for k in range(n):
        put(numbers, k, k, 1.0)
    apply_inverse_to_rows(forest, ws, columns, factors, rows, last, force)
    collect_block_matrix(numbers, 1.0, result)
    for b in range(size):
        # Rows of links beyond the block's last one were not computed; their transposes were.
        for row in range(n):
            other = row // WIDTH
            if last[other] > last[b]:
                for k in range(b * WIDTH, min(b * WIDTH + WIDTH, n)):
                    result[row, k] = numbers[other, k, row % WIDTH]


@jit
def collect_block_matrix(blocks, sign, result):
    """Collects a matrix (n, n), times a sign, from blocks of columns (blocks, n, width)."""
    n = result.shape[0]
    for i in range(n):
        for b in range(blocks.shape[0]):
            first = b * WIDTH
            if n - first >= WIDTH:
                for lane in range(WIDTH):
                    result[i, first + lane] = sign * blocks[b, i, lane]
            else:
                for lane in range(n - first):
                    result[i, first + lane] = sign * blocks[b, i, lane]


@pass_of
def collect_matrices(blocks, sign, result):
    """Collects matrices (matrices, n, n), times a sign, from blocks of columns (matrices · blocks, n, width)."""
    count = blocks.shape[0] // result.shape[0]
    for m in range(result.shape[0]):
        collect_block_matrix(blocks[m * count : (m + 1) * count], sign, result[m])


@jit
def put_row_of_block(rows, matrix, n, row, block, numbers):
    """Writes a row of a block of columns, which are lanes, to one of several consecutive matrices (n, n)."""
    first = block * WIDTH
    at = (matrix * n + row) * n + first
    if n - first >= WIDTH:
        store_run(rows, at, numbers)
    else:
        for lane in range(n - first):
            rows[at + lane] = lane_of(numbers, lane)


@pass_of
def multiply_blocks(matrix, rows, products):
    """Multiplies two matrices in blocks of columns, lanes (2 blocks, n), by −1 times a matrix (n, n). The results go to
    ``products`` (2 n n,)."""
    n, nothing = matrix.shape[0], 0.0 * rows[0, 0]
    whole, count = n - n % 4, rows.shape[0] // 2
    for b in range(0, rows.shape[0], 2):
        at, block = b // count, b % count
        next_at, next_block = (b + 1) // count, (b + 1) % count
        for i in range(0, whole, 4):
            # Eight independent sums, so that the processor can add them in parallel.
            p0, p1, p2, p3 = nothing, nothing, nothing, nothing
            q0, q1, q2, q3 = nothing, nothing, nothing, nothing
            for k in range(n):
                x, y = rows[b, k], rows[b + 1, k]
                m0, m1, m2, m3 = matrix[i, k], matrix[i + 1, k], matrix[i + 2, k], matrix[i + 3, k]
                p0, p1, p2, p3 = fused(m0, x, p0), fused(m1, x, p1), fused(m2, x, p2), fused(m3, x, p3)
                q0, q1, q2, q3 = fused(m0, y, q0), fused(m1, y, q1), fused(m2, y, q2), fused(m3, y, q3)
            put_row_of_block(products, at, n, i, block, -p0)
            put_row_of_block(products, at, n, i + 1, block, -p1)
            put_row_of_block(products, at, n, i + 2, block, -p2)
            put_row_of_block(products, at, n, i + 3, block, -p3)
            put_row_of_block(products, next_at, n, i, next_block, -q0)
            put_row_of_block(products, next_at, n, i + 1, next_block, -q1)
            put_row_of_block(products, next_at, n, i + 2, next_block, -q2)
            put_row_of_block(products, next_at, n, i + 3, next_block, -q3)
        for i in range(whole, n):
            p0, q0 = nothing, nothing
            for k in range(n):
                p0, q0 = fused(matrix[i, k], rows[b, k], p0), fused(matrix[i, k], rows[b + 1, k], q0)
            put_row_of_block(products, at, n, i, block, -p0)
            put_row_of_block(products, next_at, n, i, next_block, -q0)


class Carried(NamedTuple):
    """Arrays of links whose columns have been computed, in the order of the arguments of the passes that read them."""

    forest: Forest
    wrench: np.ndarray
    """Wrenches on the links, about their origins, shape (links, 6)."""
    ws: Workspace
    columns: np.ndarray
    """Columns of the joints (see ``motion_columns.py``), shape (nu, 24)."""
    acceleration: np.ndarray
    """Spatial accelerations of the links, shape (links, 6)."""
    composite: np.ndarray
    """Composites of the links (see ``composites.py``), shape (links, 28)."""
    loads: np.ndarray
    """Given wrenches on all that a link carries, shape (links, 15), or (0, 15) without any."""
    given: np.ndarray
    """Given wrenches on each link alone, with the shape of ``loads``."""


def _carried(at: At) -> Carried:
    """Scratch for the links of a model. Wrenches, if given, are the last inputs."""
    links = at.forest.mass.size
    wrench, loads = np.zeros((links, 6)), np.zeros((0, WRENCH_WIDTH))
    given = loads
    if len(at.given) > LOADED:
        wrench, given = at.given[LOADED:]
        loads = np.zeros((links, WRENCH_WIDTH))
    columns, acceleration = np.zeros((at.model.nu, motion_columns.WIDTH)), np.zeros((links, 6))
    composite = np.zeros((links, composites.WIDTH))
    return Carried(at.forest, wrench, at.ws, columns, acceleration, composite, loads, given)


def _accelerating(at: At, carried: Carried, tau: np.ndarray, factors: np.ndarray) -> Iterator[Bound]:
    """The passes that find positions and velocities of links, accelerations under the given forces, columns, and the
    factors of M⁻¹."""
    yield from moving(at)
    forest, ws, gravity, udot = at.forest, at.ws, at.shared.gravity, np.zeros(at.model.nu)
    articulated = np.zeros((forest.mass.size, inverse_mass.ARTICULATED))
    yield kept_solution(at.model, forest, (tau, carried.wrench, gravity, np.ones(1)), ws, udot, articulated)
    yield find_motion_columns.bind(forest, at.given[1], udot, gravity, ws, carried.columns, carried.acceleration)
    yield factorising(at.model, forest, carried.columns, articulated, factors)


def _blocks(n: int, matrices: int) -> LaneArray:
    """Zeroed matrices (n, n) in blocks of columns."""
    return LaneArray.zeros((matrices * -(-n // WIDTH), n))


def _factors(at: At) -> np.ndarray:
    return np.zeros((at.model.nu, inverse_mass.FACTORS))


def _inverting(at: At, columns: np.ndarray, factors: np.ndarray, inverse: np.ndarray) -> Bound:
    """The pass that computes M⁻¹ (nu, nu)."""
    n, identity, force = at.model.nu, _blocks(at.model.nu, 1), LaneArray.zeros((2 * at.forest.mass.size, 6))
    last = np.array([part.max() for part in np.split(link_of_speed(at.forest), range(WIDTH, n, WIDTH))])
    return invert_mass.bind(at.forest, at.ws, columns, factors, identity, identity.numbers, last, force, inverse)


def _of_accelerations(at: At) -> Iterator[Bound]:
    carried, factors = _carried(at), _factors(at)
    yield from _accelerating(at, carried, at.given[2], factors)
    n, links, found = at.model.nu, at.forest.mass.size, at.found[0]
    rows = _blocks(n, 2)
    yield find_force_jacobians.bind(*carried, common_of(at.forest, rows), rows)
    yield _inverting(at, carried.columns, factors, found[2])
    if n <= MULTIPLIED:
        yield multiply_blocks.bind(found[2], rows, found[:2].reshape(-1))
    else:
        last, force = np.full(len(rows.numbers), links - 1), LaneArray.zeros((2 * links, 6))
        yield solve_blocks.bind(at.forest, at.ws, carried.columns, factors, rows, last, force)
        yield collect_matrices.bind(rows.numbers, -1.0, found[:2])


def _of_forces(at: At) -> Iterator[Bound]:
    carried, rows = _carried(at), _blocks(at.model.nu, 2)
    yield from moving(at)
    motion = at.shared.gravity, at.ws, carried.columns, carried.acceleration
    yield find_motion_columns.bind(at.forest, at.given[1], at.given[2], *motion)
    yield find_force_jacobians.bind(*carried, common_of(at.forest, rows), rows)
    yield collect_matrices.bind(rows.numbers, 1.0, at.found[0])


def _of_loops(at: At) -> Iterator[Bound]:
    carried, factors, rows = _carried(at), _factors(at), _blocks(at.model.nu, 2)
    n, links = at.model.nu, at.forest.mass.size
    matrices, inverse, columns, acceleration = at.found
    carried = carried._replace(columns=columns, acceleration=acceleration)
    forest, ws, gravity, kept = at.forest, at.ws, at.shared.gravity, np.zeros((links, inverse_mass.ARTICULATED))
    yield from moving(at)
    yield kept_solution(at.model, forest, (np.zeros(n), carried.wrench, gravity, np.ones(1)), ws, np.zeros(n), kept)
    yield find_motion_columns.bind(forest, at.given[1], at.given[2], gravity, ws, columns, acceleration)
    yield factorising(at.model, forest, columns, kept, factors)
    yield find_force_jacobians.bind(*carried, common_of(forest, rows), rows)
    yield collect_matrices.bind(rows.numbers, 1.0, matrices)
    yield _inverting(at, columns, factors, inverse)


class Definitions(NamedTuple):
    """A function of states, in one version without wrenches and one with them."""

    plain: Definition
    loaded: Definition


def _definition(
    rows: int, found: Callable[[int, int], list[Shape]], passes: Callable[[At], Iterator[Bound]]
) -> Definitions:
    """The inputs of a state are q, u and ``rows`` rows (nu,); the second version adds wrenches."""

    def plain(model: Model) -> list[Shape]:
        return [(model.nq,), (model.nu,), (model.nu,) if rows == 1 else (rows, model.nu)]

    def loaded(model: Model) -> list[Shape]:
        links = model.forest.mass.size
        return [*plain(model), (links, 6), (links, WRENCH_WIDTH)]

    def shapes(model: Model) -> list[Shape]:
        return found(model.nu, model.forest.mass.size)

    return Definitions(Definition(plain, shapes, passes), Definition(loaded, shapes, passes))


OF_ACCELERATIONS = _definition(1, lambda n, _: [(3, n, n)], _of_accelerations)
"""∂u'/∂q, ∂u'/∂u and M⁻¹ from q, u and τ."""
OF_FORCES = _definition(1, lambda n, _: [(2, n, n)], _of_forces)
"""∂τ/∂q and ∂τ/∂u from q, u and u'."""
TRANSPOSED = _definition(2, lambda n, _: [(n,), (n,), (n,)], transposed_product_passes)
"""wᵀ∂u'/∂q, wᵀ∂u'/∂u and wᵀM⁻¹ from q, u, τ and w."""
TIMES = _definition(4, lambda n, _: [(n,)], product_passes)
"""Change δu' from q, u, τ, δq, δu and δτ."""
OF_LOOPS = _definition(1, lambda n, links: [(2, n, n), (n, n), (n, motion_columns.WIDTH), (links, 6)], _of_loops)
"""∂τ/∂q and ∂τ/∂u, M⁻¹, columns and accelerations from q, u and u', for models that may have loops and drives."""
