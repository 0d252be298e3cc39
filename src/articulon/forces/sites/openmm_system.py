"""OpenMM systems as forces between sites: reading them, and checking them against a model."""

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import clipped, shown
from articulon.model import Model
from articulon.units import unit_system

UNITS = "Da-nm-ps"
"""OpenMM's units: its kJ/mol equals Da nm²/ps²."""
MASS_BOUND, LEAST_MASS_BOUND = 3e-4, 0.03
"""Tolerance for the difference between the mass of a body and that of its particles, relative and absolute [Da]: force
fields round atomic weights, that of nitrogen to 14.01 from 14.007 and that of zinc to 65.4 from 65.38."""
BOX_BOUND = 1e-6
"""Largest accepted difference between the edges of the model's box and of OpenMM's, relative to the longest edge."""
MOVES_ATOMS = (
    "AndersenThermostat",
    "MonteCarloBarostat",
    "MonteCarloAnisotropicBarostat",
    "MonteCarloFlexibleBarostat",
    "MonteCarloMembraneBarostat",
    "RPMDMonteCarloBarostat",
)
"""OpenMM forces that change positions, speeds or the box, and have no energy."""
BETWEEN_LISTED = (
    "HarmonicBondForce",
    "HarmonicAngleForce",
    "PeriodicTorsionForce",
    "RBTorsionForce",
    "CMAPTorsionForce",
    "CustomBondForce",
    "CustomAngleForce",
    "CustomTorsionForce",
)
"""OpenMM forces between listed atoms that depend on distances and angles alone."""
_STRANGE = re.compile(r"(?i)<!DOCTYPE|<!ENTITY|&#(?!(?:9|10|13|x0?[9AD]);).{0,9}")
"""XML constructs that OpenMM never writes: document types, and character references other than blanks."""
MISSING = "this needs OpenMM: pip install 'articulon[molecules]'"


def openmm_package(where: str) -> Any:
    """Return the package ``openmm``; raises ModelError with the installation command if it is missing."""
    try:
        import openmm
    except ImportError:
        raise ModelError(f"{where}: {MISSING}") from None
    return openmm


def written(system: Any) -> str:
    """Return the XML of an ``openmm.System``; raises ValueError if it has none, and the declaration adds the key to the
    message."""
    import openmm

    held = [force for force in system.getForces() if type(force).__name__ == "PythonForce"]
    if held:
        raise ValueError(_PYTHON)
    return str(openmm.XmlSerializer.serialize(system))


_PYTHON = (
    "the system has a PythonForce, which is code and not data; leave it out, and add its function as a force of the "
    "kind 'user'"
)


def is_xml(text: str) -> bool:
    """Whether a text is a system itself rather than a path."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def text_of(given: str, sha256: str | None, where: str) -> str:
    """Return the XML of a system, given as text or by its path.

    Raises
    ------
    ModelError
        If the file cannot be read or does not match ``sha256``; the message names the key.
    """
    if is_xml(given):
        return given
    try:
        data = Path(given).read_bytes()
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError(f"{where}: {clipped(given)} is not text; write it by openmm.XmlSerializer.serialize") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"{where}: {clipped(given)} cannot be read: {getattr(error, 'strerror', error)}") from None
    if sha256 not in (None, hashlib.sha256(data).hexdigest()):
        raise ModelError(f"{where}: {clipped(given)} does not match sha256; leave that key out")
    return text


@lru_cache(maxsize=4)
def _deserialised(text: str) -> Any:
    import openmm

    return openmm.XmlSerializer.deserialize(text)


def system_of(given: str, sha256: str | None, where: str) -> Any:
    """Return the ``openmm.System`` of an XML text, or of a file with such a text; the system must not be changed.

    Raises
    ------
    ModelError
        If the text cannot be read, is not a system, or contains Python code, which is never run; the message names the
        key.
    """
    openmm = openmm_package(where)
    text = text_of(given, sha256, where)
    what = "the text" if is_xml(given) else clipped(given)
    # A PythonForce is a pickle, which runs code when it is read. Constructs that could hide its name are rejected as
    # well.
    if "PythonForce" in text:
        raise ModelError(f"{where}: {_PYTHON}")
    strange = _STRANGE.search(text)
    if strange is not None:
        raise ModelError(
            f"{where}: {what} has {shown(strange[0])} in it, which OpenMM never writes; serialise the system again"
        )
    try:
        system = _deserialised(text)
    except Exception as error:  # OpenMM raises various exceptions for invalid systems
        raise ModelError(
            f"{where}: OpenMM {openmm.__version__} cannot read {what}: {clipped(error)}; write the system by "
            "openmm.XmlSerializer.serialize(system)"
        ) from None
    if not isinstance(system, openmm.System):
        raise ModelError(f"{where}: {what} holds a {type(system).__name__} of OpenMM, not a System")
    return system


def names_of(system: Any) -> list[str]:
    """Return the kinds of the forces of a system."""
    return [type(force).__name__ for force in system.getForces()]


def check_system(system: Any, model: Model, where: str) -> None:
    """Raises ModelError, naming what differs, if a system does not match a model's sites."""
    if model.units.mass is None:
        raise ModelError(
            f"{where}: OpenMM computes in nm, ps and kJ/mol, and reduced units ('{model.units.name}') cannot be "
            f"converted; choose another system of units, such as '{UNITS}'"
        )
    for name in names_of(system):
        if name in MOVES_ATOMS:
            raise ModelError(
                f"{where}.system: its {name} would change speeds, positions or the box of this run; leave "
                "it out of the system, and use [thermostat] for a temperature"
            )
    count, sites = system.getNumParticles(), model.sites.body.size
    if count != sites:
        raise ModelError(
            f"{where}.system: it has {count} particles and the model {sites} sites; they must be the same atoms in "
            "the same order"
        )
    _check_masses(system, model, where)
    _check_constraints(system, model, where)
    _check_box(system, model, where)


def _check_masses(system: Any, model: Model, where: str) -> None:
    """Check that the particles of a body have its total mass; masses of single particles may differ: hydrogens may be
    heavier."""
    import openmm

    dalton = openmm.unit.dalton
    count = system.getNumParticles()
    masses = np.array([system.getParticleMass(k).value_in_unit(dalton) for k in range(count)])
    scale = model.units.ratio("mass", unit_system(UNITS))
    body = model.sites.body
    carried = body >= 0
    sums = np.bincount(body[carried], masses[carried], minlength=model.bodies)
    has = np.bincount(body[carried], minlength=model.bodies) > 0
    wanted = scale * model.masses
    wrong = np.flatnonzero(has & ~(np.abs(sums - wanted) <= MASS_BOUND * wanted + LEAST_MASS_BOUND))
    if wrong.size:
        k = int(wrong[0])
        raise ModelError(
            f"{where}.system: the particles of body '{model.names[k]}' have {sums[k]:.6g} Da together and the body "
            f"has {wanted[k]:.6g} Da; the system has other atoms, or another order"
        )


def _check_constraints(system: Any, model: Model, where: str) -> None:
    """Check that constraints act within bodies: between bodies, only joints constrain."""
    link, nodes = model.site_links, model.sites_on_nodes
    for k in range(system.getNumConstraints()):
        a, b, _ = system.getConstraintParameters(k)
        if link[a] != link[b] or nodes[a] or nodes[b]:
            names = [_carrier(model, one) for one in (a, b)]
            raise ModelError(
                f"{where}.system: a constraint connects site {a} of {names[0]} and site {b} of {names[1]}, but in "
                "articulon only joints constrain bodies; create the system without constraints between bodies "
                "(constraints=None)"
            )


def _carrier(model: Model, site: int) -> str:
    body = int(model.sites.body[site])
    return "the ground" if body < 0 else f"body '{model.names[body]}'"


def _check_box(system: Any, model: Model, where: str) -> None:
    """Check that the system and the model have the same box, or that both have none."""
    box, names = model.box, names_of(system)
    repeats = box is not None and bool(box.periodic.any())
    if not system.usesPeriodicBoundaryConditions():
        others = [name for name in names if name not in (*BETWEEN_LISTED, "CMMotionRemover")]
        if repeats and others:
            raise ModelError(
                f"{where}.system: its {others[0]} does not use periodic boundaries and the model's box does; make the "
                "system with a periodic nonbonded method, or leave the box out"
            )
        return
    edges = np.array([[edge.x, edge.y, edge.z] for edge in _box_vectors(system)])
    if box is None or not box.periodic.all():
        has = "no box" if box is None else f"a box with the boundaries {', '.join(box.boundaries)}"
        raise ModelError(
            f"{where}.system: it is periodic, with the box vectors {_vectors(edges)} nm, and the model has {has}; give "
            "the model this box, periodic in all three directions"
        )
    ours = model.units.ratio("length", unit_system(UNITS)) * box.vectors
    if not np.abs(ours - edges).max() <= BOX_BOUND * np.abs(edges).max():
        raise ModelError(
            f"{where}.system: it has the box vectors {_vectors(edges)} nm and the model {_vectors(ours)} nm; make "
            "them the same (system.setDefaultPeriodicBoxVectors)"
        )


def _box_vectors(system: Any) -> Any:
    import openmm

    return [edge.value_in_unit(openmm.unit.nanometer) for edge in system.getDefaultPeriodicBoxVectors()]


def _vectors(edges: np.ndarray) -> str:
    return ", ".join("(" + ", ".join(f"{x:.7g}" for x in edge) + ")" for edge in edges)


def has_cutoff(system: Any) -> bool:
    """Whether a force of a system has a cutoff, so that neighbours are listed."""
    return any(
        hasattr(force, "getNonbondedMethod") and force.getNonbondedMethod() != type(force).NoCutoff
        for force in system.getForces()
    )


def adds_up_to_zero(system: Any) -> bool:
    """Whether the forces of a system sum to zero in exact arithmetic: forces of distances and angles do, and forces
    between all pairs do, except for particle-mesh sums."""
    import openmm

    for force in system.getForces():
        if isinstance(force, openmm.NonbondedForce):
            if force.getNonbondedMethod() in (force.PME, force.LJPME):
                return False
        elif type(force).__name__ not in (*BETWEEN_LISTED, "GBSAOBCForce", "CMMotionRemover"):
            return False
    return True


def platforms() -> list[str]:
    """Names of OpenMM's platforms on this machine, the fastest first."""
    import openmm

    found = [openmm.Platform.getPlatform(k) for k in range(openmm.Platform.getNumPlatforms())]
    return [one.getName() for one in sorted(found, key=lambda one: -one.getSpeed())]


def check_platform(name: str | None, precision: str | None, properties: Mapping[str, str], where: str) -> None:
    """Raises ModelError for a platform that is not available, and for properties that it does not have."""
    known = platforms()
    if name is None:
        given = "precision" if precision is not None else "properties" if properties else None
        if given is not None:
            raise ModelError(
                f"{where}.{given}: needs a platform, but none is named; give platform, one of {', '.join(known)}"
            )
        return
    if name not in known:
        raise ModelError(
            f"{where}.platform: OpenMM has no platform {shown(name)} here; those available: {', '.join(known)}. "
            "Others come with their packages, such as pip install 'openmm[cuda12]', and their drivers"
        )
    import openmm

    has = openmm.Platform.getPlatformByName(name).getPropertyNames()
    if precision is not None and "Precision" not in has:
        raise ModelError(f"{where}.precision: the platform {name} has one precision only; leave it out")
    if precision is not None and "Precision" in properties:
        raise ModelError(f"{where}.properties: Precision is given twice; leave one out")
    unknown = [key for key in properties if key not in has]
    if unknown:
        raise ModelError(
            f"{where}.properties: the platform {name} has no property {shown(unknown[0])} (known: "
            f"{', '.join(has) or 'none'})"
        )
