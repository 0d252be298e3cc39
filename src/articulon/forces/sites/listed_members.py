"""Common parts of terms with listed sites: bonds, angles and dihedrals."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.forces.sites.nearest_images import cell_of
from articulon.forces.sites.site_positions import site_positions
from articulon.forces.sites.site_tables import W_XX, W_XY, W_XZ, W_YY, W_YZ, W_ZZ, SiteTable
from articulon.kernels import jit
from articulon.model import Model


def member_table(model: Model, where: str, members: Sequence[Sequence[int]], **values: Any) -> SiteTable:
    """Return a table of listed sites, with each parameter given once for all entries or for each entry.

    Raises
    ------
    ModelError
        For sites that do not exist or occur twice in an entry, and for numbers of parameters that do not match; the
        message names the entry.
    """
    sites = model.sites.body.size
    listed = np.array(members, dtype=np.int64)
    outside = (listed < 0) | (listed >= sites)
    if outside.any():
        k, at = np.argwhere(outside)[0]
        raise ModelError(f"{where}[{k}]: there is no site {listed[k, at]}; the model has {sites}, numbered from 0")
    ordered = np.sort(listed, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if twice.any():
        k = int(np.flatnonzero(twice)[0])
        raise ModelError(f"{where}[{k}]: a site is listed twice in {tuple(listed[k].tolist())}")
    columns = []
    for key, value in values.items():
        given = np.array(value, dtype=np.float64)
        if given.ndim and given.size != len(listed):
            owner = where.rpartition(".")[0]
            raise ModelError(f"{owner}.{key}: give one for all or {len(listed)}, one for each, not {given.size}")
        columns.append(np.broadcast_to(given, len(listed)))
    padded = np.full((len(listed), 4), -1, dtype=np.int64)
    padded[:, : listed.shape[1]] = listed
    return SiteTable(np.ascontiguousarray(np.stack(columns, axis=1)), padded, np.zeros(0))


def refuse_twins(model: Model, where: str, force: Any, key: str, *others: str, acting: str | None = None) -> None:
    """Raises ModelError if sites are listed twice in a force, or in this force and an earlier force of its kind.

    A reversed list of sites is the same term. Terms that differ in a value of ``others`` are different: a dihedral has
    one term for each multiplicity. With ``acting``, only terms with a nonzero value of that key count: one force on
    listed pairs may provide the charges, and another one the rest.
    """
    found: dict[tuple[Any, ...], str] = {}
    for number, one in enumerate(model.forces):
        if type(one) is not type(force):
            continue
        here = where if one is force else f"forces[{number}]"
        members = getattr(one, key)
        columns = [_each(getattr(one, other), len(members)) for other in others]
        amounts = (1.0,) * len(members) if acting is None else _each(getattr(one, acting), len(members))
        for k, sites in enumerate(members):
            if amounts[k] == 0.0:
                continue
            term = (min(tuple(sites), tuple(sites)[::-1]), *(column[k] for column in columns))
            if term in found and one is force:
                same = "".join(f", of the same {other}" for other in others)
                raise ModelError(
                    f"{where}.{key}[{k}]: the sites {tuple(sites)} have a term of this kind already{same}, "
                    f"{found[term]}, and both would act; leave one out"
                )
            found.setdefault(term, f"{here}.{key}[{k}]")
        if one is force:
            return


def _each(value: Any, count: int) -> Sequence[Any]:
    """Expand a single value to one value for each entry."""
    return value if isinstance(value, tuple) else (value,) * count


def separations(model: Model, pairs: np.ndarray) -> np.ndarray:
    """Distances of pairs of sites by their nearest images, in the model's initial state [length], shape (pairs,)."""
    x = site_positions(model, model.q0)
    d = (x[pairs[:, 0]] - x[pairs[:, 1]]).T
    return np.linalg.norm(nearest_image(cell_of(model), d), axis=0)


def nearest_image(cell: Any, displacements: np.ndarray) -> np.ndarray:
    """Subtract whole edges of the periodic directions from displacements (3, n)."""
    d = displacements.copy()
    for k in (2, 1, 0):
        if cell.periodic[k]:
            d -= np.rint(d[k] * cell.inverse[k, k]) * cell.vectors[k][:, None]
    return d


@jit
def add_virial(result, fx, fy, fz, dx, dy, dz):
    """Add F_a d_b to the virial; the sum over the terms of one potential is symmetric."""
    result[W_XX] += fx * dx
    result[W_YY] += fy * dy
    result[W_ZZ] += fz * dz
    result[W_XY] += fx * dy
    result[W_XZ] += fx * dz
    result[W_YZ] += fy * dz
