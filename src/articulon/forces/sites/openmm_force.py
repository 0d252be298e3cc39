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
"""Properties that make the bits of the forces repeatable, of platforms that have them: with several threads the CPU
platform adds forces up in whatever order these end."""
AWAY = 100.0
"""How far all sites go for a moment to have neighbours listed anew [nm]."""


def _as_text(value: Any) -> Any:
    """A path as text, and a system as its XML."""
    if isinstance(value, PurePath):
        return str(value)
    if type(value).__module__.partition(".")[0] == "openmm" and hasattr(value, "getNumParticles"):
        return systems.written(value)
    if not isinstance(value, str):
        raise ValueError(f"expected an openmm.System or the path of one, got {shown(value)}")
    return value


class OpenMM(Declaration):
    """The forces and the energy of an OpenMM System, by OpenMM on one of its platforms (Eastman et al., J. Phys. Chem.
    B 128, 109, 2024).

    Particle k of the system is site k of the model. OpenMM is given the positions of the sites and returns a force for
    each, −∂U/∂r, which acts on the site's body; what the system says of masses, constraints and steps has no meaning
    here. Virtual sites stand where OpenMM puts them, and what acts on them acts on the sites that they are made of.
    Their Laplacian is not known, and in a periodic box neither is their virial.

    The platform ``Reference`` computes in double precision, ``CPU`` in single, about 1e-5 of the largest force; the
    others in the ``precision`` that they are given.
    """

    positional: ClassVar[tuple[str, ...]] = ("system",)
    laplacian: ClassVar[str] = "not known"
    """What the configurational temperature would need."""
    kind: Literal["openmm"] = "openmm"
    system: Annotated[str, BeforeValidator(_as_text)]
    """The system, serialised by ``openmm.XmlSerializer``: the path of its file, beside the case, or the XML itself. In
    Python also an ``openmm.System``, which is taken as it is then."""
    sha256: str | None = None
    """Of the file, so that a run does not go on with another; found when the case is read."""
    platform: str | None = None
    """OpenMM's platform, such as ``"CUDA"``; by default the fastest that works."""
    precision: Precision | None = None
    """Of the platforms CUDA, OpenCL and HIP; OpenMM's default is single."""
    properties: dict[str, str] = {}
    """Further properties of the platform, such as ``{"DeviceIndex": "1"}``."""
    repeatable: Flag = True
    """Whether forces have the same bits in every run, and after a resumption: OpenMM is asked for deterministic forces,
    and its platform CPU takes one thread and, where forces end at a cutoff, lists neighbours anew at every evaluation.
    Without it that platform takes all cores and keeps its lists, faster, and runs agree to single precision only."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.sha256 is not None and systems.is_xml(self.system):
            raise ValueError("sha256 is of a file, and the system is given itself; leave it out")
        return self

    def __repr_args__(self) -> Any:
        """A system is too long to be shown."""
        for name, value in super().__repr_args__():
            yield name, clipped(value, 60) if name == "system" else value

    def beside(self, source: str, where: str) -> OpenMM:
        """A copy with the file found beside a case file and its contents marked; raises CaseError for one that is not
        there or has changed."""
        return self if systems.is_xml(self.system) else marked(self, "system", source, where)

    def _loaded(self, where: str = "openmm") -> Any:
        """The ``openmm.System``, shared and not to be changed; raises ModelError where it cannot be read."""
        return systems.system_of(self.system, self.sha256, f"{where}.system")

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError where OpenMM or the platform is missing, or the system is not one of the model's sites."""
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
            return "is computed in single precision, to which its forces cancel"
        return None

    def virial_known(self, model: Model) -> bool:
        """Whether the virial is that of positions and forces: not where what repeats pulls too."""
        return not self._loaded().usesPeriodicBoundaryConditions()

    def notes(self, model: Model) -> list[str]:
        """What a user should know of a run with it, a line each."""
        system, version = self._loaded(), systems.openmm_package("openmm").__version__
        on = f"on the platform {self.platform}"
        if self.platform is None:
            on = f"on the fastest platform that works, as none is named; here {systems.platforms()[0]} is tried first"
        found = [f"it is evaluated by OpenMM {version} {on}"]
        if "CMMotionRemover" in systems.names_of(system):
            found.append("the system's CMMotionRemover is left out: it would change speeds, which are this run's")
        if system.getNumConstraints():
            found.append(
                f"the system's constraints ({system.getNumConstraints()}) are left out: each holds atoms of one body"
            )
        return found

    def site_terms(self, model: Model) -> list[SumTerm]:
        """The system as a term; OpenMM begins when it is first evaluated."""
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
    """A system on a platform; its ``openmm.Context`` is made by the process that first asks for forces.

    Parameters
    ----------
    force
        The declaration.
    model
        Whose sites its particles are.
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
        """Takes another box with these edges, one a row [length], of which no table knows."""
        self._edges = self.length * edges
        if self._context is not None:
            self._context.setPeriodicBoxVectors(*self._edges)
        return None, (0.0, 0.0)

    @property
    def context(self) -> Any:
        """The ``openmm.Context`` of this process: what a parent has made does not work in its children."""
        if self._context is None:
            self._context = _context_of(self.force, self.system)
            if self._edges is not None:
                self._context.setPeriodicBoxVectors(*self._edges)
        return self._context

    def leave_to_the_parent(self) -> None:
        """Forgets a Context that a parent process has made, and never takes it apart: that would wait for threads which
        a forked process has not."""
        if self._context is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._context))
            self._context = None

    def forces(self, time: float, positions: np.ndarray, result: np.ndarray) -> None:
        """Writes the forces on the sites (3 n,) [force] at their positions (n, 3) [length] to the first of ``result``
        (3 n + 3,); NaN where a position is."""
        self._evaluate(positions, result, energy=False)

    def energies(self, time: float, positions: np.ndarray, result: np.ndarray) -> None:
        """The same with the energy [energy] behind the forces."""
        self._evaluate(positions, result, energy=True)

    def _evaluate(self, positions: np.ndarray, result: np.ndarray, energy: bool) -> None:
        n = len(positions)
        if not np.isfinite(positions).all():
            result[:] = np.nan  # what has diverged has no place in OpenMM's lists
            return
        context = self.context
        places = positions if self.length == 1.0 else self.length * positions
        if self.relists and context.getPlatform().getName() == "CPU":
            # The order of its sums is that of its lists, which it makes anew when sites have gone far enough: a run
            # that is resumed would begin with others. No force is evaluated here.
            context.setPositions(places + AWAY)
            context.getState(forces=True, groups=0)
        context.setPositions(places)
        if self.virtual.size:
            context.computeVirtualSites()
        state = context.getState(forces=True, energy=energy)
        forces = np.array(state.getForces(asNumpy=True)._value)
        forces[self.virtual] = 0.0  # what they feel has been handed to the sites that they are made of
        result[: 3 * n] = (self.energy * self.length) * forces.ravel()
        result[3 * n] = self.energy * state.getPotentialEnergy()._value if energy else 0.0


_EVALUATIONS: WeakSet[Evaluation] = WeakSet()


def _leave_to_the_parent() -> None:
    for evaluation in list(_EVALUATIONS):
        evaluation.leave_to_the_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_the_parent)


def _context_of(force: OpenMM, system: Any) -> Any:
    """A Context of a copy of a system without what moves its atoms.

    Raises
    ------
    ArticulonError
        Where no platform works, with OpenMM's reason for each.
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
        except Exception as error:  # whatever a platform without its device raises
            failures.append(f"{name}: {clipped(error)}")
    raise ArticulonError(
        f"no Context of OpenMM can be made ({'; '.join(failures)}); the platforms that are there: "
        f"{', '.join(systems.platforms())}"
    )
