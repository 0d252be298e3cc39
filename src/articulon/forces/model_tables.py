"""The kernels' tables of all forces of a model, and the channels that these are in."""

import numpy as np

from articulon.baths.base import GAIN, NOTHING, WAY, Bath
from articulon.forces.brownian import acting, brownian_of, noise_table
from articulon.forces.contact.engine import contact_of
from articulon.forces.fixman import fixman_table
from articulon.forces.gravity import Gravity
from articulon.forces.joint_actuation import actuation_table
from articulon.forces.joint_friction import joint_friction_table
from articulon.forces.point_springs import point_spring_table
from articulon.forces.site_pairs import pair_table
from articulon.forces.sites.evaluation import SiteForces, no_sites
from articulon.forces.sites.listing import has_site_forces
from articulon.forces.stokes_drag import drag_table
from articulon.forces.tables import Forces
from articulon.forces.torsional_springs import spring_table
from articulon.forces.user import body_table
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


def force_tables(
    model: Model,
    seed: int = 0,
    window: float = 1.0,
    average: int = 1,
    sites: SiteForces | None = None,
    bath: Bath | None = None,
) -> Forces:
    """The kernels' tables of a model's forces and of a thermostat's; without ``sites`` those of site forces are left
    empty."""
    every_drag = drag_table(model)
    drag = acting(every_drag, model)
    pairs, springs, bodies = pair_table(model), spring_table(model), body_table(model)
    point_springs = point_spring_table(model)
    gravity = np.zeros(3)
    for force in model.forces:
        if isinstance(force, Gravity):
            gravity += [float(g) for g in force.acceleration]
    wrench_channels = set(bodies.channel.tolist())
    if pairs.link.size or point_springs.link.size or has_site_forces(model):
        wrench_channels.add(POTENTIAL)
    if contact_of(model) is not None:
        wrench_channels.add(CONTACT)
    if (drag.link.size and drag is every_drag) or point_springs.constants[:, 2].any():
        wrench_channels.add(DAMPING)
    if brownian_of(model) is not None:
        wrench_channels.add(STOCHASTIC)
    if bath is not None and bath.masses.size:
        wrench_channels.update(thermostat_channels(bath))
    friction, actuations, fixman = joint_friction_table(model), actuation_table(model), fixman_table(model)
    present = {
        CONFORMATIONAL: springs.link.size + fixman.half_kT.size + len(model.modes),
        DAMPING: friction.start.size + sum(bool(one.damping.any()) for one in model.modes.values()),
        EXTERNAL: actuations.speed.size + actuations.function_start.size - 1,
    }
    joint_channels = sorted(c for c, count in present.items() if count)
    return Forces(
        pairs,
        springs,
        point_springs,
        drag,
        noise_table(model, every_drag, seed, window, average),
        gravity,
        bodies,
        friction,
        actuations,
        fixman,
        no_sites() if sites is None else sites.system,
        np.zeros((model.forest.mass.size if contact_of(model) is not None else 0, 6)),
        np.array(sorted(wrench_channels), dtype=np.int64),
        np.array(joint_channels, dtype=np.int64),
    )


def thermostat_channels(bath: Bath) -> set[int]:
    """Channels that a thermostat acts in."""
    if bath.choice[WAY] == NOTHING:
        return set()
    return {THERMOSTAT, THERMOSTAT_RATE} if bath.constants[GAIN] > 0.0 else {THERMOSTAT}


def channels_of(model: Model, bath: Bath | None = None) -> tuple[str, ...]:
    """Names of the channels that the model and a thermostat have forces in."""
    tables = force_tables(model)
    present = {*tables.wrench_channels.tolist(), *tables.joint_channels.tolist()}
    if tables.gravity.any():
        present.add(EXTERNAL)
    if contact_of(model) is not None:
        present.add(CONTACT)
    if bath is not None:
        present |= thermostat_channels(bath)
    return tuple(CHANNELS[c] for c in sorted(present))
