"""Forces on sites that a function of all their positions gives, such as another library's.

The rows of the table of such a term are scratch for n sites, its members: n positions, n forces, and a row whose first
number is the energy. ``constants`` say whether the virial is known (1, or NaN) and whether the forces add up to zero
(1, or 0).
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from articulon.forces.sites.site_tables import ENERGY, FORCES, MEASURE, SiteTable, add_virial
from articulon.forces.sites.site_terms import InBox, SumTerm
from articulon.forces.user_functions import UserFunctions, callback, view
from articulon.kernels import jit


def library_term(
    kind: str,
    sites: np.ndarray,
    forces: Callable[..., None],
    energies: Callable[..., None],
    virial_known: bool = True,
    balanced: bool = True,
    in_box: InBox | None = None,
) -> SumTerm:
    """The forces on some sites as a term.

    Parameters
    ----------
    kind
        Of the force, for messages.
    sites
        The sites, shape (n,).
    forces
        ``function(time, positions, result)``: writes the forces (3 n,) [force] at positions (n, 3) [length], as the
        model has them and not wrapped into a box, to the first of ``result`` (3 n + 3,).
    energies
        The same with the energy [energy] behind the forces.
    virial_known
        Whether the virial is that of positions and forces.
    balanced
        Whether the forces add up to zero but for their error.
    in_box
        Tells the library of another box, where it knows of one.
    """
    members = np.full((sites.size, 4), -1, dtype=np.int64)
    members[:, 0] = sites
    constants = np.array([1.0 if virial_known else np.nan, 1.0 if balanced else 0.0])
    users = UserFunctions(kind)
    arguments = "table, cell, particles, neighbours"
    return SumTerm(
        users.compiled(forces, FORCES, arguments, forces_bridge, kind),
        users.compiled(energies, MEASURE, f"{arguments}, result", measure_bridge, kind),
        SiteTable(np.zeros((2 * sites.size + 1, 3)), members, constants),
        level="long",
        users=users,
        in_box=in_box,
    )


@jit
def gather_positions(table, particles):
    """Positions of the sites, as the model has them and not wrapped into a box, into the first rows."""
    rows, members, wrap = table.rows, table.members, particles.wrap
    for i in range(members.shape[0]):
        p = particles.place[members[i, 0]]
        rows[i, 0] = particles.x[p] - wrap[0, p]
        rows[i, 1] = particles.y[p] - wrap[1, p]
        rows[i, 2] = particles.z[p] - wrap[2, p]


@jit
def scatter_forces(table, particles):
    """Adds the forces on the sites."""
    rows, members = table.rows, table.members
    n = members.shape[0]
    for i in range(n):
        p = particles.place[members[i, 0]]
        particles.fx[p] += rows[n + i, 0]
        particles.fy[p] += rows[n + i, 1]
        particles.fz[p] += rows[n + i, 2]


@jit
def collect_measures(table, result):
    """Adds the energy, and the virial Σ F r, which is not a number in a periodic box. Positions are taken from the
    first site where forces add up to zero but for their error."""
    rows = table.rows
    n, known, balanced = table.members.shape[0], table.constants[0], table.constants[1]
    result[ENERGY] += rows[2 * n, 0]
    x0, y0, z0 = balanced * rows[0, 0], balanced * rows[0, 1], balanced * rows[0, 2]
    for i in range(n):
        x, y, z = rows[i, 0] - x0, rows[i, 1] - y0, rows[i, 2] - z0
        fx, fy, fz = known * rows[n + i, 0], known * rows[n + i, 1], known * rows[n + i, 2]
        add_virial(result, (fx, fy, fz), (x, y, z))


def _address(function: Callable[..., None]) -> Any:
    """The Python function as one of C, of the address of the scratch and the number of sites."""

    def call(time: float, address: int, n: int) -> None:
        rows = view(address, 6 * n + 3)
        function(time, rows[: 3 * n].reshape(n, 3), rows[3 * n :])

    return callback(call, 2)


def forces_bridge(function: Callable[..., None]) -> tuple[Any, Any]:
    """The function as a pass of forces, and what that calls."""
    address = _address(function)

    @numba.njit
    def library_forces(table, cell, particles, neighbours):
        gather_positions(table, particles)
        address(0.0, table.rows.ctypes.data, table.members.shape[0])
        scatter_forces(table, particles)

    return library_forces, address


def measure_bridge(function: Callable[..., None]) -> tuple[Any, Any]:
    """The function as a pass of measures, and what that calls."""
    address = _address(function)

    @numba.njit
    def library_measure(table, cell, particles, neighbours, result):
        gather_positions(table, particles)
        address(0.0, table.rows.ctypes.data, table.members.shape[0])
        collect_measures(table, result)

    return library_measure, address
