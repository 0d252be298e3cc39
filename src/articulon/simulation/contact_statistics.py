"""Observables of contacts: their number, load sharing, duration, and energy ledger.

All observables are computed from the state, which holds the forces of each contact at the last evaluation.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from articulon.dynamics.poses import link_velocities
from articulon.dynamics.state_functions import scratch
from articulon.errors import CheckpointError
from articulon.forces.contact.contact_columns import KEPT, RECORD, TIMES
from articulon.forces.contact.contact_engine import Contacts
from articulon.forces.contact.contact_tables import (
    FRICTION_WORK,
    NORMAL_WORK,
    SLIDES,
    SPRING_WORK,
    VISCOUS_WORK,
    WALL_WORK,
)
from articulon.forces.contact.sphere_motion import sphere_centres, sphere_name
from articulon.model import Model, State, kernel_tables
from articulon.storage.checkpoint import open_checkpoint

FEW = 2
"""Minimum number of contacts of a sphere that carries load. With friction, two contacts can hold a sphere."""
WORKS = {
    "work_normal_elastic": NORMAL_WORK,
    "work_tangential_spring": SPRING_WORK,
    "work_contact_damping": VISCOUS_WORK,
    "work_friction": FRICTION_WORK,
    "work_walls": WALL_WORK,
}
"""Lines of the energy ledger, by the name of the observable."""
STRESS = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
"""Components of the stress tensor."""


class ContactRecords(NamedTuple):
    """The contacts of a state. Contacts between spheres come first, then contacts with walls."""

    first: np.ndarray
    """Site of the first sphere, shape (contacts,)."""
    second: np.ndarray
    """Site of the second sphere, −1 for a wall, shape (contacts,)."""
    normal: np.ndarray
    """Unit normal from the second sphere or wall to the first sphere, world frame, shape (contacts, 3)."""
    normal_force: np.ndarray
    """Elastic and viscous normal force, positive in repulsion [force], shape (contacts,)."""
    elastic_force: np.ndarray
    """Elastic part of the normal force [force], shape (contacts,)."""
    tangential: np.ndarray
    """Tangential force on the first sphere, world frame [force], shape (contacts, 3)."""
    displacement: np.ndarray
    """Tangential displacement of the first sphere relative to the second or the wall, world frame [length], shape
    (contacts, 3)."""
    overlap: np.ndarray
    """Overlap [length], shape (contacts,)."""
    arms: np.ndarray
    """Distances from the two centres to the contact point, along the line of centres [length], shape (contacts, 2)."""
    slides: np.ndarray
    """Whether the surfaces slide, shape (contacts,)."""
    since: np.ndarray
    """Time at which the contact began [time], shape (contacts,)."""

    @property
    def force(self) -> np.ndarray:
        """Total force on the first sphere, world frame [force], shape (contacts, 3)."""
        return self.normal_force[:, None] * self.normal + self.tangential

    @property
    def between_spheres(self) -> np.ndarray:
        """Whether each contact is between two spheres, shape (contacts,)."""
        return self.second >= 0


def contact_records(pairs: np.ndarray, memory: np.ndarray, radius: np.ndarray) -> ContactRecords:
    """Return the contacts stored in ``State.contacts``. ``radius`` holds the radii of the model's sites."""
    record, sites = memory[:, : RECORD.width], radius.size
    normal, force = record[:, RECORD.normal : RECORD.normal + 3], record[:, RECORD.force : RECORD.force + 3]
    normal_force = (normal * force).sum(axis=1)
    walls = pairs[:, 1] >= sites
    arms = record[:, [RECORD.arm, RECORD.other_arm]]
    between = radius[pairs[:, 0]] + radius[np.where(walls, 0, pairs[:, 1])]
    return ContactRecords(
        first=pairs[:, 0],
        second=np.where(pairs[:, 1] < sites, pairs[:, 1], -1),
        normal=normal,
        normal_force=normal_force,
        elastic_force=record[:, RECORD.elastic],
        tangential=force - normal_force[:, None] * normal,
        displacement=record[:, RECORD.displacement : RECORD.displacement + 3],
        overlap=np.where(walls, arms[:, 1], between - arms.sum(axis=1)),
        arms=np.where(walls[:, None], arms * [1.0, 0.0], arms),
        slides=memory[:, KEPT.friction_state] == SLIDES,
        since=memory[:, KEPT.since],
    )


def saved_contacts(folder: Path, model: Model) -> tuple[float, ContactRecords] | None:
    """Return the time of a run's checkpoint [time] and its contacts. For a finished run this is the last frame.

    The result is None for a model without contact spheres, or if there is no readable checkpoint of this model and
    version.
    """
    if not (model.sites.radius > 0.0).any():
        return None
    try:
        with open_checkpoint(folder) as saved:
            time, pairs, memory = (
                saved.array(f"state_{name}") for name in ("time", "contacts.pairs", "contacts.memory")
            )
    except CheckpointError:
        return None
    count, spheres = len(pairs), model.sites.radius.size
    if time.shape != (1,) or pairs.shape != (count, 2) or memory.shape != (count, KEPT.width):
        return None
    if pairs.dtype.kind != "i" or memory.dtype.kind != "f" or (pairs < 0).any() or (pairs[:, 0] >= spheres).any():
        return None
    return float(time[0]), contact_records(pairs, memory, model.sites.radius)


def contact_counts(records: ContactRecords, sites: int) -> np.ndarray:
    """Number of contacts of each site, walls included, shape (sites,)."""
    both = records.second[records.between_spheres]
    return np.bincount(records.first, minlength=sites) + np.bincount(both, minlength=sites)


def contact_stress(records: ContactRecords, volume: float) -> np.ndarray:
    """Return the contact stress Σ F ⊗ l/V [pressure], shape (3, 3). The vector l points from the second centre, or the
    wall, to the first centre. Compression is positive.

    Love, A Treatise on the Mathematical Theory of Elasticity (1927), note B; Christoffersen, Mehrabadi and
    Nemat-Nasser, J. Appl. Mech. 48, 339 (1981).
    """
    reach = records.arms.sum(axis=1)
    return np.asarray((records.force.T @ (reach[:, None] * records.normal)) / volume)


class ContactObserver:
    """Computes the observables of the contacts of a model.

    Parameters
    ----------
    model
        The model.
    contacts
        The contacts of the model.
    """

    def __init__(self, model: Model, contacts: Contacts) -> None:
        self.model, self.law, self.wall_name = model, contacts.law, contacts.wall_name
        self.sites = contacts.sites
        self.moving = self.sites[model.sites.body[self.sites] >= 0]
        """Sites of spheres on moving bodies."""
        self.power = 0.4 if contacts.law.normal == "hertz" else 0.5
        """Elastic energy of a contact divided by the product of its force and overlap."""

    @property
    def dimensions(self) -> dict[str, str]:
        """Dimension of every observable, by name."""
        plain = (
            "contacts",
            "coordination_number",
            "rattlers",
            "sliding_contacts",
            "overlap_largest",
            "contacts_begun",
            "contacts_ended",
        )
        names = dict.fromkeys(plain, "dimensionless")
        names |= {"contact_time_mean": "time", "contact_time_longest": "time"}
        names |= dict.fromkeys(("normal_force_mean", "normal_force_largest"), "force")
        names |= {f"wall_force_{axis}": "force" for axis in "xyz"}
        names |= {f"contact_stress_{name}": "pressure" for name in STRESS}
        names |= dict.fromkeys(("kinetic_translation", "kinetic_rotation", "energy_normal_elastic"), "energy")
        return names | dict.fromkeys(WORKS, "energy")

    def observables(
        self, state: State, kinetic: float, positions: np.ndarray, rotations: np.ndarray
    ) -> dict[str, float]:
        """Compute all contact observables of a state.

        Parameters
        ----------
        state
            The state.
        kinetic
            Kinetic energy of the state [energy].
        positions, rotations
            Poses of the bodies.
        """
        sites = self.model.sites.body.size
        records = contact_records(state.contacts.pairs, state.contacts.memory, self.model.sites.radius)
        counts = contact_counts(records, sites)[self.moving]
        walls = ~records.between_spheres
        times, works = state.contacts.times, state.contacts.work
        ended = float(times[TIMES.ended])
        translation = self._translation(state, kinetic)
        result = {
            "contacts": float(records.first.size),
            "coordination_number": float(counts.mean()) if counts.size else 0.0,
            "rattlers": float((counts < FEW).mean()) if counts.size else 0.0,
            "sliding_contacts": float(records.slides.mean()) if records.first.size else 0.0,
            "overlap_largest": float(times[TIMES.deepest]),
            "contacts_begun": float(times[TIMES.begun]),
            "contacts_ended": ended,
            "contact_time_mean": float(times[TIMES.durations]) / ended if ended else 0.0,
            "contact_time_longest": float(times[TIMES.longest]),
            "normal_force_mean": float(records.normal_force.mean()) if records.first.size else 0.0,
            "normal_force_largest": float(records.normal_force.max(initial=0.0)),
            "kinetic_translation": translation,
            "kinetic_rotation": kinetic - translation,
            "energy_normal_elastic": self.power * float(records.elastic_force @ records.overlap),
        }
        pushed = records.force[walls].sum(axis=0)
        result |= {f"wall_force_{axis}": float(pushed[k]) for k, axis in enumerate("xyz")}
        stress = contact_stress(records, self._volume(positions, rotations))
        result |= {f"contact_stress_{name}": float(stress[at]) for name, at in STRESS.items()}
        return result | {name: float(works[0, line]) for name, line in WORKS.items()}

    def deepest(self, state: State) -> tuple[str, str]:
        """Return the names of the two spheres, or of the sphere and the wall, that had the largest overlap so far
        relative to the smaller radius. At least one contact must have occurred."""
        first, other = (int(state.contacts.times[at]) for at in (TIMES.deep_first, TIMES.deep_other))
        wall = other - self.sites.size
        second = sphere_name(self.model, int(self.sites[other])) if wall < 0 else self.wall_name(wall)
        return sphere_name(self.model, int(self.sites[first])), second

    def forces(self, state: State) -> np.ndarray:
        """Contact force on each body, world frame [force], shape (bodies, 3)."""
        sites = self.model.sites
        records = contact_records(state.contacts.pairs, state.contacts.memory, sites.radius)
        result = np.zeros((self.model.bodies + 1, 3))
        # The last row belongs to the ground and is dropped.
        np.add.at(result, sites.body[records.first], records.force)
        both = records.between_spheres
        np.add.at(result, sites.body[records.second[both]], -records.force[both])
        return result[:-1]

    def _translation(self, state: State, kinetic: float) -> float:
        """Return the kinetic energy of the centres of mass of the links; for flexible links, the total kinetic
        energy."""
        model, forest = self.model, kernel_tables(self.model).forest
        if model.modes:
            return kinetic
        ws = scratch(model)
        link_velocities(forest, state.q, state.u, ws)
        velocity = ws.twist[:, :3]
        if forest.moment.any():
            centre = np.einsum("kij,kj->ki", ws.rotation.reshape(-1, 3, 3), forest.moment / forest.mass[:, None])
            velocity = velocity + np.cross(ws.twist[:, 3:], centre)
        return 0.5 * float(forest.mass @ (velocity**2).sum(axis=1))

    def _volume(self, positions: np.ndarray, rotations: np.ndarray) -> float:
        """Return the volume of the model's box, or of the smallest axis-aligned box that contains the moving
        spheres."""
        if self.model.box is not None:
            return self.model.box.volume
        if not self.moving.size:
            return 1.0
        centres = sphere_centres(self.model, positions, rotations)[self.moving]
        R = self.model.sites.radius[self.moving][:, None]
        return float(np.prod((centres + R).max(axis=0) - (centres - R).min(axis=0)))
