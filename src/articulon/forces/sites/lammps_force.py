"""Forces of LAMMPS, evaluated by it on the sites of a model, on as many processors as MPI has started."""

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
"""Commands that say what acts and run nothing else."""
CODE = ("python", "mliap", "kim", "plugin")
"""Words of styles that run code or load it."""
WRITES = ("CHECKU", "CHECKF")
"""Words of tabulated dihedrals that have files written."""
SKINS = {"lj": 0.8, "real": 2.0}
"""Skin by LAMMPS's style of units [LAMMPS's length]: its defaults are 0.3 and 2, and lists cost more here."""
SMALL = 1e-3
"""What sites themselves list neighbours within, by the skin: nothing but the moments to list anew is wanted of that."""


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, PurePath) else value


class Lammps(Declaration):
    """The forces, the energy and the virial of LAMMPS, by LAMMPS (Thompson et al., Comput. Phys. Commun. 271, 108171,
    2022): all pair, bonded and long-range styles that its commands name.

    Atom k of the data file, in the order of ids, is site k − 1 of the model. LAMMPS is given the positions of the sites
    and returns a force for each, −∂U/∂r, which acts on the site's body. Under ``mpiexec`` all ranks take the same
    steps, and LAMMPS shares the sums out among them by the place of each atom. Neighbours are listed at positions that
    are part of the state, so that forces have the same bits after a resumption on as many ranks.

    ``instance``, in Python, is a ``lammps.lammps`` of the user's in the place of commands and data, with whatever it
    has been told. A run with it cannot be written to a file, and so not resumed from one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    positional: ClassVar[tuple[str, ...]] = ("commands",)
    laplacian: ClassVar[str] = "not known"
    """What the configurational temperature would need."""
    kind: Literal["lammps"] = "lammps"
    commands: tuple[str, ...] = ()
    """What LAMMPS is told, a command each, of those that say what acts: styles, coefficients and ``special_bonds``. One
    is ``"read_data {data}"``."""
    data: Annotated[str | None, BeforeValidator(_as_text)] = None
    """The data file: its path, beside the case, or its text."""
    sha256: str | None = None
    """Of the file, so that a run does not go on with another; found when the case is read."""
    units: Literal["lj", "real"] = "lj"
    """LAMMPS's style: ``lj`` for models in reduced units, ``real`` for others."""
    skin: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """How far beyond the cutoffs LAMMPS lists neighbours, 0.8 σ or 2 Å by default [length]."""
    joined: tuple[tuple[Whole, Whole], ...] = ()
    """Sites that bonded terms hold together, by index: which trees are one molecule, for pressures."""
    instance: Any = None
    """A ``lammps.lammps`` that is there already."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.instance is not None:
            if self.commands or self.data is not None:
                raise ValueError("an instance has been told already what acts; leave commands and data out")
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
            raise ValueError("sha256 is of a file, and the data are given themselves; leave it out")
        return self

    def __repr_args__(self) -> Any:
        """Data are too long to be shown."""
        for name, value in super().__repr_args__():
            yield name, clipped(value, 60) if name in ("data", "commands", "joined") else value

    def beside(self, source: str, where: str) -> Lammps:
        """A copy with the file found beside a case file and its contents marked; raises CaseError for one that is not
        there or has changed."""
        return self if self.data is None or _is_text(self.data) else marked(self, "data", source, where)

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError where LAMMPS is missing, for units that do not go together, for a second one, and for more
        ranks of MPI than there are trees, the chains of a melt among them."""
        if self.instance is None:
            lammps_package(where)
        scales_of(model, self.units, where)
        if sum(isinstance(force, Lammps) for force in model.forces) > 1:
            raise ModelError(f"{where}: LAMMPS is declared twice; one instance computes all forces")
        sites = model.sites.body.size
        ranks = world().size
        if ranks > model.trees:
            raise ModelError(
                f"{where}: there are {ranks} ranks of MPI and {model.trees} chains or other trees of bodies; start at "
                f"most as many: mpiexec -n {model.trees}"
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
        """Whether the virial is known; LAMMPS gives it, also in periodic boxes."""
        return True

    def notes(self, model: Model) -> list[str]:
        """What a user should know of a run with it, a line each."""
        ranks = instance_of(self, model).ranks.size
        on = f" on {ranks} ranks of MPI" if ranks > 1 else ""
        found = [f"it is evaluated by LAMMPS {lammps_package('lammps').__version__}{on}"]
        if ranks > 1:
            found.append("sums on another number of ranks have another order, and differ by rounding")
        return found

    def site_terms(self, model: Model) -> list[SumTerm]:
        """LAMMPS's forces as a term; LAMMPS begins when it is first evaluated."""
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
        """[length]."""
        length = scales_of(model, self.units, self.kind).length
        return SKINS[self.units] / length if self.skin is None else float(self.skin)

    def opened(self, model: Model) -> Instance:
        """A new instance for a model's sites."""
        scales = scales_of(model, self.units, self.kind)
        skin = scales.length * self._skin(model)
        if self.instance is not None:
            return Instance.opened(plan_of(model, scales, skin, live=self.instance))
        assert self.data is not None
        data = text_of(self.data, self.sha256)
        return Instance.opened(plan_of(model, scales, skin, commands=self.commands, data=data))


_INSTANCES: WeakKeyDictionary[Model, tuple[int, Lammps, Instance]] = WeakKeyDictionary()


def instance_of(force: Lammps, model: Model) -> Instance:
    """The instance that evaluates a model's force in this process; what a parent has made does not work in its
    children."""
    known = _INSTANCES.get(model)
    if known is None or known[0] != os.getpid() or known[1] is not force:
        known = _INSTANCES[model] = os.getpid(), force, force.opened(model)
    return known[2]


def _is_text(data: str) -> bool:
    return "\n" in data


def text_of(data: str, sha256: str | None) -> str:
    """The text of a data file, given itself or by its path; raises ModelError for one that cannot be read, or is
    another than ``sha256`` says."""
    import hashlib

    if _is_text(data):
        return data
    try:
        raw = Path(data).read_bytes()
        text = raw.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise ModelError(f"lammps.data: {clipped(data)} cannot be read: {getattr(error, 'strerror', error)}") from None
    if sha256 not in (None, hashlib.sha256(raw).hexdigest()):
        raise ModelError(f"lammps.data: {clipped(data)} is not the file that sha256 says; leave that key out")
    return text


def _check_command(command: str) -> None:
    """Raises ValueError for a command that does more than to say what acts: a case is data, and runs nothing."""
    words = command.split()
    if not words or words[0] not in ALLOWED:
        raise ValueError(
            f"commands: {shown(command)} is not one of those that say what acts: {', '.join(ALLOWED)}; for others give "
            "an instance of LAMMPS, from Python"
        )
    if any(mark in command for mark in "$&#\"'\n\r"):
        raise ValueError(f"commands: {shown(command)}: one line each, without variables, quotes and comments")
    code = next((word for word in words if re.split(r"[/:]", word)[0] in CODE), None)
    if code is not None:
        raise ValueError(f"commands: {shown(command)}: '{code}' runs code, which a case does not; give an instance")
    writes = next((word for word in words if word in WRITES or (words[0] == "processors" and word == "file")), None)
    if writes is not None:
        raise ValueError(f"commands: {shown(command)}: '{writes}' has LAMMPS write a file, which a case does not")
    others = words[2:]
    if words[0] == "read_data" and (
        words[1:2] != [DATA] or not all(one.isdigit() or one == "nocoeff" or one.startswith("extra/") for one in others)
    ):
        raise ValueError(f"commands: {shown(command)}: write 'read_data {DATA}', and give the file as data")


@jit
def scatter_forces(table, particles):
    """Adds the forces on the sites."""
    rows = table.rows
    for i in range(table.members.shape[0]):
        p = particles.place[i]
        particles.fx[p] += rows[i, 0]
        particles.fy[p] += rows[i, 1]
        particles.fz[p] += rows[i, 2]


@jit
def collect_measures(table, result):
    """Adds the energy and the virial, which follow the forces."""
    rows, n = table.rows, table.members.shape[0]
    result[ENERGY] += rows[n, 0]
    for m in range(1, 7):
        result[W_XX + m - 1] += rows[n + m // 3, m % 3]


def _address(function: Callable[..., None]) -> Any:
    """The Python function as one of C, of the addresses of positions, of those that neighbours are listed at, of the
    edges of the box and of what it writes, and the number of sites."""

    seen: dict[tuple[int, ...], tuple[np.ndarray, ...]] = {}

    def call(time: float, places: int, lists: int, edges: int, rows: int, n: int) -> None:
        given = places, lists, edges, rows, n
        if given not in seen:
            seen.clear()
            seen[given] = view(places, 3, n), view(lists, 3, n), view(edges, 3, 3), view(rows, 3 * n + MEASURED)
        function(time, *seen[given])

    return callback(call, 5)


def forces_bridge(function: Callable[..., None]) -> tuple[Any, Any]:
    """The function as a pass of forces, and what that calls."""
    address = _address(function)

    @numba.njit
    def lammps_forces(table, cell, particles, neighbours):
        n = table.members.shape[0]
        site, reference, vectors, rows = particles.site, particles.reference, cell.vectors, table.rows
        address(0.0, site.ctypes.data, reference.ctypes.data, vectors.ctypes.data, rows.ctypes.data, n)
        scatter_forces(table, particles)

    return lammps_forces, address


def measure_bridge(function: Callable[..., None]) -> tuple[Any, Any]:
    """The function as a pass of measures, and what that calls."""
    address = _address(function)

    @numba.njit
    def lammps_measure(table, cell, particles, neighbours, result):
        n = table.members.shape[0]
        site, reference, vectors, rows = particles.site, particles.reference, cell.vectors, table.rows
        address(0.0, site.ctypes.data, reference.ctypes.data, vectors.ctypes.data, rows.ctypes.data, n)
        collect_measures(table, result)

    return lammps_measure, address
