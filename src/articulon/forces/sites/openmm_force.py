"""Forces of any OpenMM system, evaluated by OpenMM on the sites of a model."""

from __future__ import annotations

import ctypes
import os
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Literal, Self
from weakref import WeakSet

import numpy as np
from pydantic import BeforeValidator, model_validator

from articulon.declaration import Declaration, Flag, marked
from articulon.errors import ArticulonError
from articulon.forces.sites import openmm_system as systems
from articulon.forces.sites.library_forces import library_term
from articulon.forces.sites.site_terms import SumTerm
from articulon.inputs import clipped, shown
from articulon.model import Model
from articulon.thermostats.total_momentum import OUTSIDE
from articulon.units import unit_system

Precision = Literal["single", "mixed", "double"]
REPEATABLE = {"DeterministicForces": "true", "Threads": "1"}
"""Properties that make forces reproducible to the last bit, for platforms that have them: with several threads the CPU
platform sums forces in the order in which the threads finish."""
AWAY = 100.0
"""Temporary displacement of all sites that makes OpenMM rebuild its neighbour list [nm]."""


def _as_text(value: Any) -> Any:
    """Convert a path to text, and a system to its XML."""
    if isinstance(value, PurePath):
        return str(value)
    if type(value).__module__.partition(".")[0] == "openmm" and hasattr(value, "getNumParticles"):
        return systems.written(value)
    if not isinstance(value, str):
        raise ValueError(f"expected an openmm.System or the path of one, got {shown(value)}")
    return value


class OpenMM(Declaration):
    """Forces and energy of an OpenMM System, computed by OpenMM on one of its platforms (Eastman et al., J. Phys. Chem.
    B 128, 109, 2024).

    Particle k of the system is site k of the model. OpenMM gets the positions of the sites and returns a force for
    each, −∂U/∂r, which acts on the site's body. Masses, constraints and integrators of the system are ignored. Virtual
    sites are placed by OpenMM, and the forces on them act on the sites that define them. The Laplacian is unknown; in a
    periodic box, the virial is unknown too.

    The platform ``Reference`` computes in double precision, ``CPU`` in single precision, with errors of about 1e-5 of
    the largest force; the others use the given ``precision``.
    """

    positional: ClassVar[tuple[str, ...]] = ("system",)
    laplacian: ClassVar[str] = "not known"
    """The Laplacian, which the configurational temperature needs, is not known."""
    kind: Literal["openmm"] = "openmm"
    system: Annotated[str, BeforeValidator(_as_text)]
    """The system, serialised by ``openmm.XmlSerializer``: the path of its file, relative to the case, or the XML
    itself. In Python also an ``openmm.System``, whose current content is copied."""
    sha256: str | None = None
    """SHA-256 of the file, so that a run is not continued with another one; computed when the case is read."""
    platform: str | None = None
    """OpenMM's platform, such as ``"CUDA"``; by default the fastest that works."""
    precision: Precision | None = None
    """Precision of the platforms CUDA, OpenCL and HIP; OpenMM's default is single."""
    properties: dict[str, str] = {}
    """Further properties of the platform, such as ``{"DeviceIndex": "1"}``."""
    repeatable: Flag = True
    """Whether forces are identical to the last bit in every run and after a resumption. OpenMM is then asked for
    deterministic forces, and its platform CPU uses one thread and, for forces with a cutoff, rebuilds its neighbour
    list at every evaluation. Otherwise that platform uses all cores and keeps its lists; it is faster, but runs agree
    to single precision only."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.sha256 is not None and systems.is_xml(self.system):
            raise ValueError("sha256 belongs to a file, but the system itself is given; leave it out")
        return self

    def __repr_args__(self) -> Any:
        """Omit the system, which is too long to be shown."""
        for name, value in super().__repr_args__():
            yield name, clipped(value, 60) if name == "system" else value

    def beside(self, source: str, where: str) -> OpenMM:
        """Return a copy whose file is resolved relative to a case file and marked with its hash; raises CaseError if
        the file is missing or has changed."""
        return self if systems.is_xml(self.system) else marked(self, "system", source, where)

    def _loaded(self, where: str = "openmm") -> Any:
        """Return the ``openmm.System``, which is shared and must not be changed; raises ModelError if it cannot be
        read."""
        return systems.system_of(self.system, self.sha256, f"{where}.system")

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError if OpenMM or the platform is missing, or the system does not match the model's sites."""
        systems.openmm_package(where)
        systems.check_platform(self.platform, self.precision, self.properties, where)
        systems.check_system(self._loaded(where), model, where)

    def momentum_changes(self, model: Model) -> str | None:
        """See ``site_terms.py``."""
        if (model.site_links < 0).any():
            return OUTSIDE
        if not systems.adds_up_to_zero(self._loaded()):
            return "has forces that need not add up to zero"
        if self.platform != "Reference" and self.precision != "double":
            return "has forces that sum to zero only in single precision"
        return None

    def virial_known(self, model: Model) -> bool:
        """Whether the virial follows from positions and forces: not with periodic images."""
        return not self._loaded().usesPeriodicBoundaryConditions()

    def notes(self, model: Model) -> list[str]:
        """Notes for the user about a run with this force, one line each."""
        system, version = self._loaded(), systems.openmm_package("openmm").__version__
        on = f"on the platform {self.platform}"
        if self.platform is None:
            on = f"on the fastest working platform, since none is named; here {systems.platforms()[0]} is tried first"
        found = [f"it is evaluated by OpenMM {version} {on}"]
        if "CMMotionRemover" in systems.names_of(system):
            found.append("the system's CMMotionRemover is ignored: it would change the speeds of this run")
        if system.getNumConstraints():
            found.append(
                f"the system's constraints ({system.getNumConstraints()}) are ignored: each connects atoms of one body"
            )
        return found

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the system as a term; OpenMM starts at the first evaluation."""
        context = Evaluation(self, model)
        return [
            library_term(
                self.kind,
                np.arange(model.sites.body.size),
                context.forces,
                context.energies,
                virial_known=self.virial_known(model),
                balanced=systems.adds_up_to_zero(context.system),
                in_box=context.take_box if context.system.usesPeriodicBoundaryConditions() else None,
            )
        ]


class Evaluation:
    """A system on a platform; its ``openmm.Context`` is created by the process that first requests forces.

    Parameters
    ----------
    force
        The declaration.
    model
        Model whose sites are the particles.
    """

    def __init__(self, force: OpenMM, model: Model) -> None:
        openmm_units = unit_system(systems.UNITS)
        self.force, self.system = force, force._loaded()
        self.length = model.units.ratio("length", openmm_units)
        self.energy = 1.0 / model.units.ratio("energy", openmm_units)
        self.virtual = np.array(
            [k for k in range(self.system.getNumParticles()) if self.system.isVirtualSite(k)], dtype=np.int64
        )
        self.relists = force.repeatable and systems.has_cutoff(self.system)
        self._context: Any = None
        self._edges: np.ndarray | None = None
        _EVALUATIONS.add(self)

    def take_box(self, edges: np.ndarray) -> tuple[None, tuple[float, float]]:
        """Change to a box with these edges, one per row [length]; no table of the kernels depends on it."""
        self._edges = self.length * edges
        if self._context is not None:
            self._context.setPeriodicBoxVectors(*self._edges)
        return None, (0.0, 0.0)

    @property
    def context(self) -> Any:
        """Return the ``openmm.Context`` of this process: a Context of a parent process does not work in child
        processes."""
        if self._context is None:
            self._context = _context_of(self.force, self.system)
            if self._edges is not None:
                self._context.setPeriodicBoxVectors(*self._edges)
        return self._context

    def leave_to_the_parent(self) -> None:
        """Drop a Context of a parent process without destroying it: destroying it would wait for threads that do not
        exist in a forked process."""
        if self._context is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._context))
            self._context = None

    def forces(self, time: float, positions: np.ndarray, result: np.ndarray) -> None:
        """Write the forces on the sites (3 n,) [force] at their positions (n, 3) [length] to the start of ``result`` (3
        n + 3,); NaN if a position is NaN."""
        self._evaluate(positions, result, energy=False)

    def energies(self, time: float, positions: np.ndarray, result: np.ndarray) -> None:
        """Write the forces on the sites, and then the energy [energy]."""
        self._evaluate(positions, result, energy=True)

    def _evaluate(self, positions: np.ndarray, result: np.ndarray, energy: bool) -> None:
        n = len(positions)
        if not np.isfinite(positions).all():
            result[:] = np.nan  # OpenMM cannot list positions that are not finite
            return
        context = self.context
        places = positions if self.length == 1.0 else self.length * positions
        if self.relists and context.getPlatform().getName() == "CPU":
            # OpenMM sums in the order of its lists, and rebuilds them when sites have moved far enough: a resumed run
            # would start with different lists. No force is evaluated here.
            context.setPositions(places + AWAY)
            context.getState(forces=True, groups=0)
        context.setPositions(places)
        if self.virtual.size:
            context.computeVirtualSites()
        state = context.getState(forces=True, energy=energy)
        forces = np.array(state.getForces(asNumpy=True)._value)
        forces[self.virtual] = 0.0  # their forces are already on the sites that define them
        result[: 3 * n] = (self.energy * self.length) * forces.ravel()
        result[3 * n] = self.energy * state.getPotentialEnergy()._value if energy else 0.0


_EVALUATIONS: WeakSet[Evaluation] = WeakSet()


def _leave_to_the_parent() -> None:
    for evaluation in list(_EVALUATIONS):
        evaluation.leave_to_the_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_the_parent)


def _context_of(force: OpenMM, system: Any) -> Any:
    """Return a Context of a copy of a system, without the constraints and the CMMotionRemover, which move its atoms.

    Raises
    ------
    ArticulonError
        If no platform works, with OpenMM's reason for each.
    """
    import openmm

    own = openmm.XmlSerializer.clone(system)
    for k in reversed(range(own.getNumForces())):
        if type(own.getForce(k)).__name__ == "CMMotionRemover":
            own.removeForce(k)
    for k in reversed(range(own.getNumConstraints())):
        own.removeConstraint(k)
    failures = []
    for name in systems.platforms() if force.platform is None else [force.platform]:
        platform = openmm.Platform.getPlatformByName(name)
        has = platform.getPropertyNames()
        given = {key: value for key, value in REPEATABLE.items() if force.repeatable and key in has}
        given |= {} if force.precision is None else {"Precision": force.precision}
        try:
            return openmm.Context(own, openmm.VerletIntegrator(0.001), platform, given | force.properties)
        except Exception as error:  # platforms without their device raise various exceptions
            failures.append(f"{name}: {clipped(error)}")
    raise ArticulonError(
        f"no OpenMM Context can be created ({'; '.join(failures)}); available platforms: "
        f"{', '.join(systems.platforms())}"
    )
