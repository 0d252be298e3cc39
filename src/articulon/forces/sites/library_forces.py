"""Forces on a set of sites that a function computes from all their positions, for example by another library.

The rows of the table are scratch memory for the n sites: n rows of positions, n rows of forces, and one row whose first
number is the energy. ``constants[0]`` is 1 if the virial is known and NaN if not; ``constants[1]`` is 1 if the forces
sum to zero and 0 if not.
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
    """Return the term of the forces that a function computes for a set of sites.

    Parameters
    ----------
    kind
        Kind of the force, for messages.
    sites
        The sites, shape (n,).
    forces
        ``function(time, positions, result)``, which writes the forces (3 n,) [force] at positions (n, 3) [length],
        unwrapped, as in the model, to the start of ``result`` (3 n + 3,).
    energies
        Function that also writes the energy [energy] after the forces.
    virial_known
        Whether the virial follows from positions and forces.
    balanced
        Whether the forces sum to zero up to their error.
    in_box
        Function that changes the library's box, if it has one.
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
    """Copy the positions of the sites, unwrapped, as in the model, into the first rows."""
    rows, members, wrap = table.rows, table.members, particles.wrap
    for i in range(members.shape[0]):
        p = particles.place[members[i, 0]]
        rows[i, 0] = particles.x[p] - wrap[0, p]
        rows[i, 1] = particles.y[p] - wrap[1, p]
        rows[i, 2] = particles.z[p] - wrap[2, p]


@jit
def scatter_forces(table, particles):
    """Add the forces on the sites."""
    rows, members = table.rows, table.members
    n = members.shape[0]
    for i in range(n):
        p = particles.place[members[i, 0]]
        particles.fx[p] += rows[n + i, 0]
        particles.fy[p] += rows[n + i, 1]
        particles.fz[p] += rows[n + i, 2]


@jit
def collect_measures(table, result):
    """Add the energy and the virial Σ F r to ``result``. The virial is NaN if it is not known. If the forces sum to
    zero up to their error, positions are taken relative to the first site."""
    rows = table.rows
    n, known, balanced = table.members.shape[0], table.constants[0], table.constants[1]
    result[ENERGY] += rows[2 * n, 0]
    x0, y0, z0 = balanced * rows[0, 0], balanced * rows[0, 1], balanced * rows[0, 2]
    for i in range(n):
        x, y, z = rows[i, 0] - x0, rows[i, 1] - y0, rows[i, 2] - z0
        fx, fy, fz = known * rows[n + i, 0], known * rows[n + i, 1], known * rows[n + i, 2]
        add_virial(result, (fx, fy, fz), (x, y, z))


def _address(function: Callable[..., None]) -> Any:
    """Wrap the Python function as a C function, whose arguments are the address of the scratch memory and the number of
    sites."""

    def call(time: float, address: int, n: int) -> None:
        rows = view(address, 6 * n + 3)
        function(time, rows[: 3 * n].reshape(n, 3), rows[3 * n :])

    return callback(call, 2)


def forces_bridge(function: Callable[..., None]) -> tuple[Any, Any]:
    """Return the function as a pass of forces, and the compiled function that it calls."""
    address = _address(function)

    @numba.njit
    def library_forces(table, cell, particles, neighbours):
        gather_positions(table, particles)
        address(0.0, table.rows.ctypes.data, table.members.shape[0])
        scatter_forces(table, particles)

    return library_forces, address


def measure_bridge(function: Callable[..., None]) -> tuple[Any, Any]:
    """Return the function as a pass of measures, and the compiled function that it calls."""
    address = _address(function)

    @numba.njit
    def library_measure(table, cell, particles, neighbours, result):
        gather_positions(table, particles)
        address(0.0, table.rows.ctypes.data, table.members.shape[0])
        collect_measures(table, result)

    return library_measure, address
