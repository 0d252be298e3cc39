"""Forces that LAMMPS evaluates on the sites of a model, on all processes that MPI has started."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Annotated, Any, ClassVar, Literal, Self
from weakref import WeakKeyDictionary

import numba
import numpy as np
from pydantic import BeforeValidator, ConfigDict, model_validator

from articulon.declaration import Declaration, Dimension, Quantity, Whole, marked
from articulon.errors import ModelError
from articulon.forces.sites.lammps_instance import Instance
from articulon.forces.sites.lammps_plan import DATA, lammps_package, plan_of, scales_of
from articulon.forces.sites.lammps_ranks import MEASURED, world
from articulon.forces.sites.site_sums import no_forces, no_measure
from articulon.forces.sites.site_tables import ENERGY, FORCES, MEASURE, W_XX, SiteTable
from articulon.forces.sites.site_terms import SumTerm
from articulon.forces.user_functions import UserFunctions, callback, view
from articulon.inputs import clipped, shown
from articulon.kernels import jit
from articulon.model import Model
from articulon.thermostats.total_momentum import OUTSIDE

FAMILIES = ("pair", "bond", "angle", "dihedral", "improper", "kspace")
ALLOWED = (
    *("units", "atom_style", "atom_modify", "boundary", "newton", "processors", "comm_style", "comm_modify"),
    *("read_data", "mass", "special_bonds", "dielectric", "suffix", "package", "neigh_modify", "timestep"),
    *(f"{family}_{what}" for family in FAMILIES for what in ("style", "coeff", "modify")),
)  # fmt: skip
"""Commands that define interactions and run nothing else."""
CODE = ("python", "mliap", "kim", "plugin")
"""Words in the names of LAMMPS styles that run or load code."""
WRITES = ("CHECKU", "CHECKF")
"""Keywords of tabulated dihedrals that make LAMMPS write files."""
SKINS = {"lj": 0.8, "real": 2.0}
"""Default skin by LAMMPS's style of units [LAMMPS's length]: LAMMPS's own defaults are 0.3 and 2, but lists cost more
here."""
SMALL = 1e-3
"""Listing distance of our own neighbour lists, as a fraction of the skin: they only tell when LAMMPS's lists must be
rebuilt."""


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, PurePath) else value


class Lammps(Declaration):
    """Forces, energy and virial from LAMMPS (Thompson et al., Comput. Phys. Commun. 271, 108171, 2022): all pair,
    bonded and long-range styles that its commands name.

    Atom k of the data file, in the order of ids, is site k − 1 of the model. LAMMPS gets the positions of the sites and
    returns a force for each, −∂U/∂r, which acts on the site's body. Under ``mpiexec`` all ranks take the same steps,
    and LAMMPS distributes the sums over them by the position of each atom. Neighbours are listed at positions that are
    part of the state, so that forces are identical to the last bit after a resumption on the same number of ranks.

    In Python, ``instance`` can be the user's own ``lammps.lammps``, with any settings, instead of commands and data. A
    run with such an instance cannot be written to a file, and therefore cannot be resumed from a file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    positional: ClassVar[tuple[str, ...]] = ("commands",)
    laplacian: ClassVar[str] = "not known"
    """The Laplacian, which the configurational temperature needs, is not known."""
    kind: Literal["lammps"] = "lammps"
    commands: tuple[str, ...] = ()
    """LAMMPS commands that define interactions, one per entry: styles, coefficients and ``special_bonds``. One of them
    is ``"read_data {data}"``."""
    data: Annotated[str | None, BeforeValidator(_as_text)] = None
    """The data file: its path, relative to the case, or its text."""
    sha256: str | None = None
    """SHA-256 of the file, so that a run is not continued with another one; computed when the case is read."""
    units: Literal["lj", "real"] = "lj"
    """LAMMPS's style: ``lj`` for models in reduced units, ``real`` for others."""
    skin: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Skin of LAMMPS's neighbour lists, 0.8 σ or 2 Å by default [length]."""
    joined: tuple[tuple[Whole, Whole], ...] = ()
    """Sites connected by bonded terms, by index: they tell which trees form one molecule, for pressures."""
    instance: Any = None
    """An existing ``lammps.lammps`` instance."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.instance is not None:
            if self.commands or self.data is not None:
                raise ValueError("an instance already has its interactions; leave out commands and data")
            if not hasattr(self.instance, "extract_atom"):
                raise ValueError(f"instance: expected a lammps.lammps, got {shown(self.instance)}")
            return self
        if self.data is None:
            raise ValueError("give data, the path or the text of a data file")
        if not any(command.split()[:1] == ["read_data"] and DATA in command for command in self.commands):
            raise ValueError(f"commands: one of them must be 'read_data {DATA}', after the styles")
        for command in self.commands:
            _check_command(command)
        if self.sha256 is not None and _is_text(self.data):
            raise ValueError("sha256 belongs to a file, but the data are given as text; leave it out")
        return self

    def __repr_args__(self) -> Any:
        """Omit the data, which are too long to be shown."""
        for name, value in super().__repr_args__():
            yield name, clipped(value, 60) if name in ("data", "commands", "joined") else value

    def beside(self, source: str, where: str) -> Lammps:
        """Return a copy whose file is resolved relative to a case file and marked with its hash; raises CaseError if
        the file is missing or has changed."""
        return self if self.data is None or _is_text(self.data) else marked(self, "data", source, where)

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError if LAMMPS is missing, for incompatible units, for a second LAMMPS force, and for more MPI
        ranks than trees of bodies, such as the chains of a melt."""
        if self.instance is None:
            lammps_package(where)
        scales_of(model, self.units, where)
        if sum(isinstance(force, Lammps) for force in model.forces) > 1:
            raise ModelError(f"{where}: LAMMPS is declared twice; one instance computes all forces")
        sites = model.sites.body.size
        ranks = world().size
        if ranks > model.trees:
            raise ModelError(
                f"{where}: there are {ranks} MPI ranks but only {model.trees} chains or other trees of bodies; start "
                f"at most that many: mpiexec -n {model.trees}"
            )
        if any(not site < sites for pair in self.joined for site in pair):
            raise ModelError(f"{where}.joined: there are {sites} sites, from 0 on")

    def momentum_changes(self, model: Model) -> str | None:
        """See ``site_terms.py``."""
        if (model.site_links < 0).any():
            return OUTSIDE
        if self.instance is not None or any(command.split()[:1] == ["kspace_style"] for command in self.commands):
            return "has forces that need not add up to zero"
        return None

    def virial_known(self, model: Model) -> bool:
        """Whether the virial is known; LAMMPS provides it, also in periodic boxes."""
        return True

    def notes(self, model: Model) -> list[str]:
        """Notes for the user about a run with this force, one line each."""
        ranks = instance_of(self, model).ranks.size
        on = f" on {ranks} ranks of MPI" if ranks > 1 else ""
        found = [f"it is evaluated by LAMMPS {lammps_package('lammps').__version__}{on}"]
        if ranks > 1:
            found.append("the order of sums depends on the number of ranks, and results differ by rounding")
        return found

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return LAMMPS's forces as a term; LAMMPS starts at the first evaluation."""
        count = model.sites.body.size

        def forces(time: float, places: np.ndarray, lists: np.ndarray, edges: np.ndarray, result: np.ndarray) -> None:
            instance_of(self, model).evaluate(places, lists, edges, result, False)

        def measures(time: float, places: np.ndarray, lists: np.ndarray, edges: np.ndarray, result: np.ndarray) -> None:
            instance_of(self, model).evaluate(places, lists, edges, result, True)

        users, skin = UserFunctions(self.kind), self._skin(model)
        members = np.full((count, 4), -1, dtype=np.int64)
        members[:, 0] = np.arange(count)
        given = "table, cell, particles, neighbours"
        terms = [
            SumTerm(
                users.compiled(forces, FORCES, given, forces_bridge, self.kind),
                users.compiled(measures, MEASURE, f"{given}, result", measure_bridge, self.kind),
                SiteTable(np.zeros((count + 3, 3)), members, np.zeros(1)),
                level="long",
                users=users,
                reach=SMALL * skin,
                skin=skin,
            )
        ]
        if self.joined:
            bonds = np.full((len(self.joined), 4), -1, dtype=np.int64)
            bonds[:, :2] = self.joined
            terms.append(SumTerm(no_forces, no_measure, SiteTable(np.zeros((0, 1)), bonds, np.zeros(0))))
        return terms

    def _skin(self, model: Model) -> float:
        """Skin [length]."""
        length = scales_of(model, self.units, self.kind).length
        return SKINS[self.units] / length if self.skin is None else float(self.skin)

    def opened(self, model: Model) -> Instance:
        """Return a new instance for a model's sites."""
        scales = scales_of(model, self.units, self.kind)
        skin = scales.length * self._skin(model)
        if self.instance is not None:
            return Instance.opened(plan_of(model, scales, skin, live=self.instance))
        assert self.data is not None
        data = text_of(self.data, self.sha256)
        return Instance.opened(plan_of(model, scales, skin, commands=self.commands, data=data))


_INSTANCES: WeakKeyDictionary[Model, tuple[int, Lammps, Instance]] = WeakKeyDictionary()


def instance_of(force: Lammps, model: Model) -> Instance:
    """Return the instance that evaluates a model's force in this process; an instance of a parent process does not work
    in child processes."""
    known = _INSTANCES.get(model)
    if known is None or known[0] != os.getpid() or known[1] is not force:
        known = _INSTANCES[model] = os.getpid(), force, force.opened(model)
    return known[2]


def _is_text(data: str) -> bool:
    return "\n" in data


def text_of(data: str, sha256: str | None) -> str:
    """Return the text of a data file, given as text or by its path; raises ModelError if the file cannot be read or
    does not match ``sha256``."""
    import hashlib

    if _is_text(data):
        return data
    try:
        raw = Path(data).read_bytes()
        text = raw.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise ModelError(f"lammps.data: {clipped(data)} cannot be read: {getattr(error, 'strerror', error)}") from None
    if sha256 not in (None, hashlib.sha256(raw).hexdigest()):
        raise ModelError(f"lammps.data: {clipped(data)} does not match sha256; leave that key out")
    return text


def _check_command(command: str) -> None:
    """Raises ValueError for a command that does more than define interactions: a case is data, and must not run
    code."""
    words = command.split()
    if not words or words[0] not in ALLOWED:
        raise ValueError(
            f"commands: {shown(command)} is not one of those that define interactions: {', '.join(ALLOWED)}; for "
            "others give an instance of LAMMPS, from Python"
        )
    if any(mark in command for mark in "$&#\"'\n\r"):
        raise ValueError(f"commands: {shown(command)}: one line each, without variables, quotes and comments")
    code = next((word for word in words if re.split(r"[/:]", word)[0] in CODE), None)
    if code is not None:
        raise ValueError(f"commands: {shown(command)}: '{code}' runs code, which a case may not; give an instance")
    writes = next((word for word in words if word in WRITES or (words[0] == "processors" and word == "file")), None)
    if writes is not None:
        raise ValueError(f"commands: {shown(command)}: '{writes}' makes LAMMPS write a file, which a case may not")
    others = words[2:]
    if words[0] == "read_data" and (
        words[1:2] != [DATA] or not all(one.isdigit() or one == "nocoeff" or one.startswith("extra/") for one in others)
    ):
        raise ValueError(f"commands: {shown(command)}: write 'read_data {DATA}', and give the file as data")


@jit
def scatter_forces(table, particles):
    """Add the forces on the sites."""
    rows = table.rows
    for i in range(table.members.shape[0]):
        p = particles.place[i]
        particles.fx[p] += rows[i, 0]
        particles.fy[p] += rows[i, 1]
        particles.fz[p] += rows[i, 2]


@jit
def collect_measures(table, result):
    """Add the energy and the virial, which are stored after the forces."""
    rows, n = table.rows, table.members.shape[0]
    result[ENERGY] += rows[n, 0]
    for m in range(1, 7):
        result[W_XX + m - 1] += rows[n + m // 3, m % 3]


def _address(function: Callable[..., None]) -> Any:
    """Return the Python function as a C function. Its arguments are the time; the addresses of the positions, of the
    positions of the latest list, of the edges of the box and of the output; and the number of sites."""

    seen: dict[tuple[int, ...], tuple[np.ndarray, ...]] = {}

    def call(time: float, places: int, lists: int, edges: int, rows: int, n: int) -> None:
        given = places, lists, edges, rows, n
        if given not in seen:
            seen.clear()
            seen[given] = view(places, 3, n), view(lists, 3, n), view(edges, 3, 3), view(rows, 3 * n + MEASURED)
        function(time, *seen[given])

    return callback(call, 5)


def forces_bridge(function: Callable[..., None]) -> tuple[Any, Any]:
    """Return the function as a pass of forces, and the compiled function that it calls."""
    address = _address(function)

    @numba.njit
    def lammps_forces(table, cell, particles, neighbours):
        n = table.members.shape[0]
        site, reference, vectors, rows = particles.site, particles.reference, cell.vectors, table.rows
        address(0.0, site.ctypes.data, reference.ctypes.data, vectors.ctypes.data, rows.ctypes.data, n)
        scatter_forces(table, particles)

    return lammps_forces, address


def measure_bridge(function: Callable[..., None]) -> tuple[Any, Any]:
    """Return the function as a pass of measures, and the compiled function that it calls."""
    address = _address(function)

    @numba.njit
    def lammps_measure(table, cell, particles, neighbours, result):
        n = table.members.shape[0]
        site, reference, vectors, rows = particles.site, particles.reference, cell.vectors, table.rows
        address(0.0, site.ctypes.data, reference.ctypes.data, vectors.ctypes.data, rows.ctypes.data, n)
        collect_measures(table, result)

    return lammps_measure, address
