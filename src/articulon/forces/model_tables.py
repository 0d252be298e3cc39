"""Kernel tables of all forces of a model, and the channels in which the forces act."""

import numpy as np

from articulon.forces.base import terms_of
from articulon.forces.brownian import acting, brownian_of, noise_table
from articulon.forces.contact.contact_engine import contact_of
from articulon.forces.contact.walls import parts_of
from articulon.forces.gravity import Gravity
from articulon.forces.impacts.joint_limits import has_impacts
from articulon.forces.linear_flow import linear_flow
from articulon.forces.sites.list_sizes import has_site_forces
from articulon.forces.sites.site_evaluation import SiteForces, no_sites
from articulon.forces.solver_tables import Forces
from articulon.forces.stokes_drag import drag_table
from articulon.forces.user_functions import UserFunctions
from articulon.model import CHANNELS, Model
from articulon.model.state import (
    CONFORMATIONAL,
    CONTACT,
    DAMPING,
    EXTERNAL,
    POTENTIAL,
    STOCHASTIC,
    THERMOSTAT,
    THERMOSTAT_RATE,
)
from articulon.thermostats.base import EFFECT, GAIN, NOTHING, Bath


def force_tables(
    model: Model,
    seed: int = 0,
    window: float = 1.0,
    average: int = 1,
    sites: SiteForces | None = None,
    bath: Bath | None = None,
    users: UserFunctions | None = None,
) -> Forces:
    """Return the tables of a model's forces, with the channels of the forces and of a thermostat. Without ``sites`` the
    tables of site forces are left empty, and without ``users`` the forces written by a user are left out."""
    every_drag = drag_table(model)
    drag = acting(every_drag, model)
    gravity = np.zeros(3)
    for force in model.forces:
        if isinstance(force, Gravity):
            gravity += [float(g) for g in force.acceleration]
    terms = terms_of(model, users)
    found = [term.kind.channels(term.table) for term in terms]
    wrench_channels = {c for wrenches, _ in found for c in wrenches}
    joint_channels = {c for _, joints in found for c in joints}
    if has_site_forces(model):
        wrench_channels.add(POTENTIAL)
    if contact_of(model) is not None:
        wrench_channels.add(CONTACT)
    if drag.link.size and drag is every_drag:
        wrench_channels.add(DAMPING)
    if brownian_of(model) is not None:
        wrench_channels.add(STOCHASTIC)
    if bath is not None and bath.masses.size:
        wrench_channels.update(thermostat_channels(bath))
        if model.modes or model.armature is not None:
            joint_channels.update(thermostat_channels(bath))
    if model.modes:
        joint_channels.add(CONFORMATIONAL)
    if any(bool(one.damping.any()) for one in model.modes.values()):
        joint_channels.add(DAMPING)
    return Forces(
        drag,
        linear_flow(model, drag),
        noise_table(model, every_drag, seed, window, average),
        gravity,
        no_sites() if sites is None else sites.system,
        np.zeros((model.forest.mass.size if contact_of(model) is not None else 0, 6)),
        np.array(sorted(wrench_channels), dtype=np.int64),
        np.array(sorted(joint_channels), dtype=np.int64),
        terms,
    )


def thermostat_channels(bath: Bath) -> set[int]:
    """Return the channels in which a thermostat acts."""
    if bath.choice[EFFECT] == NOTHING:
        return set()
    return {THERMOSTAT, THERMOSTAT_RATE} if bath.constants[GAIN] > 0.0 else {THERMOSTAT}


def channels_of(model: Model, bath: Bath | None = None) -> tuple[str, ...]:
    """Return the names of the channels in which the model and a thermostat have forces."""
    tables = force_tables(model)
    present = {*tables.wrench_channels.tolist(), *tables.joint_channels.tolist()}
    if tables.gravity.any():
        present.add(EXTERNAL)
    if contact_of(model) is not None:
        present.add(CONTACT)
    if bath is not None:
        present |= thermostat_channels(bath)
    return tuple(CHANNELS[c] for c in sorted(present))


def working_channels(model: Model, bath: Bath | None = None) -> tuple[str, ...]:
    """Return the names of the channels of :func:`channels_of`, and of those channels that only record work: of drives,
    moving walls and impacts. These have no force that could be scaled."""
    contact = contact_of(model)
    walls = () if contact is None else contact.walls
    given = bool(model.drives) or any(wall.moves for wall in parts_of(walls, model, "walls"))
    present = {*channels_of(model, bath), *(("external",) if given else ())}
    if has_impacts(model):
        present.add(CHANNELS[CONTACT])
    return tuple(name for name in CHANNELS if name in present)
