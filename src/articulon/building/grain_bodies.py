"""Part of the model builder for grains: free bodies of one sphere each, added one by one or many at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.building.handles import Body
from articulon.building.named_sites import NamedSiteBuilder
from articulon.building.sites import SiteChunk
from articulon.errors import ModelError
from articulon.inputs import floats, one_word, shown
from articulon.model.joints import Free

SOLID = 0.4
"""Moment of inertia of a solid homogeneous sphere about its centre, divided by m R²."""


class GrainBuilder(NamedSiteBuilder):
    """Builder mixin for grains."""

    def add_grain(
        self,
        name: str,
        *,
        radius: Any,
        position: Any,
        kind: str = "grain",
        density: Any = None,
        mass: Any = None,
        velocity: Any = (0.0, 0.0, 0.0),
        spin: Any = (0.0, 0.0, 0.0),
        charge: Any = 0.0,
        group: str | None = None,
    ) -> Body:
        """Add one grain: a solid homogeneous sphere that is free to translate and rotate.

        Parameters
        ----------
        name
            Name, unique among the bodies.
        radius
            Radius R [length], positive. The moment of inertia is 2/5 m R².
        position
            Position of the centre, world frame [length], shape (3,).
        kind
            Kind, which selects the material of its contacts.
        density, mass
            Density ρ [mass/length³] or mass m [mass]; one of the two must be given. m = 4/3 π R³ ρ.
        velocity, spin
            Velocity of the centre [velocity] and angular velocity [angle/time], world frame, shape (3,).
        charge
            Charge at the centre [charge].
        group
            Group, which selects the pairs of other forces; by default the name of the kind.

        Returns
        -------
        Body
            Handle of the grain.

        Raises
        ------
        ModelError
            For impossible values; the message names the grain.
        """
        if not isinstance(name, str) or not name:
            raise ModelError(f"a grain's name must be a non-empty string, got {shown(name)}")
        called = f"grain '{name}'"
        added = self._add_grains(
            called,
            [name],
            self._rows(position, 1, 3, "length", called, "position"),
            radius,
            kind,
            density,
            mass,
            self._rows(velocity, 1, 3, "velocity", called, "velocity"),
            self._rows(spin, 1, 3, "angular_velocity", called, "spin"),
            charge,
            group,
        )
        return Body(added.start, name, self)

    def add_grains(
        self,
        positions: Any,
        radius: Any,
        *,
        kind: str | Sequence[str] = "grain",
        density: Any = None,
        mass: Any = None,
        velocities: Any = None,
        spins: Any = None,
        name: str = "grain",
        charge: Any = 0.0,
        group: str | Sequence[str] | None = None,
    ) -> range:
        """Add many grains at once. The arguments are those of :meth:`add_grain`, with one value for all grains or one
        for each.

        Parameters
        ----------
        positions
            Positions of the centres, world frame [length], shape (n, 3).
        radius
            One radius for all grains, or one each [length], shape () or (n,).
        kind, group
            One word for all grains, or one each; see :meth:`add_grain`.
        density, mass
            Density [mass/length³] or mass [mass]; one of the two must be given, with one value for all or one for each
            grain.
        velocities, spins
            Velocities and angular velocities, world frame [velocity], [angle/time], shape (n, 3); by default zero.
        name
            Prefix of the names: "grain" gives "grain-0", "grain-1" and so on.
        charge
            One charge for all grains, or one each [charge].

        Returns
        -------
        range
            Indices of the new bodies.

        Raises
        ------
        ModelError
            For impossible values; the message names the first grain concerned.

        Examples
        --------
        >>> import articulon as ar
        >>> builder = ar.ModelBuilder(units="kg-m-s")
        >>> builder.add_grains([[0, 0, 0.5], [0, 0, 1.5]], 0.5, density=2500.0)
        range(0, 2)
        """
        try:
            shape = floats(positions, lambda text: 0.0).shape
        except ValueError as reason:
            raise ModelError(f"add_grains, positions: {reason}") from None
        if len(shape) != 2 or shape[1] != 3:
            raise ModelError(f"add_grains, positions: expected shape (n, 3), got {shape}")
        if shape[0] == 0:
            raise ModelError("add_grains, positions: there are no positions; give at least one, or leave the call out")
        first, count, name = len(self._names), shape[0], one_word(name, "add_grains, name")
        called = "add_grains"
        return self._add_grains(
            called,
            [f"{name}-{first + k}" for k in range(count)],
            self._rows(positions, count, 3, "length", called, "positions"),
            radius,
            kind,
            density,
            mass,
            None if velocities is None else self._rows(velocities, count, 3, "velocity", called, "velocities"),
            None if spins is None else self._rows(spins, count, 3, "angular_velocity", called, "spins"),
            charge,
            group,
        )

    def _add_grains(
        self,
        called: str,
        names: list[str],
        places: np.ndarray,
        radius: Any,
        kind: str | Sequence[str],
        density: Any,
        mass: Any,
        velocities: np.ndarray | None,
        spins: np.ndarray | None,
        charge: Any,
        group: str | Sequence[str] | None,
    ) -> range:
        count = len(names)
        if (density is None) == (mass is None):
            raise ModelError(f"{called}: give it either a density or a mass")
        kinds = self._words(kind, count, called, "kind")
        teams = kinds if group is None else self._words(group, count, called, "group")
        radii = self._rows(radius, count, 0, "length", called, "radius")
        bad = np.flatnonzero(~(radii > 0.0))
        if bad.size:
            k = int(bad[0])
            raise ModelError(f"body '{names[k]}', radius: a grain's radius must be positive, got {radii[k]:g}")
        if mass is None:
            given, key = self._rows(density, count, 0, "mass_density", called, "density"), "density"
            masses = given * 4.0 / 3.0 * np.pi * radii**3
        else:
            given, key = self._rows(mass, count, 0, "mass", called, "mass"), "mass"
            masses = given
        bad = np.flatnonzero(~(given > 0.0))
        if bad.size:
            k = int(bad[0])
            raise ModelError(f"body '{names[k]}', {key}: a grain's {key} must be positive, got {given[k]:g}")
        q = np.zeros((count, 7))
        q[:, :3], q[:, 3] = places, 1.0
        u = None
        if velocities is not None or spins is not None:
            # Grains start without rotation, so the body axes, in which spins are stored, are the world axes.
            u = np.zeros((count, 6))
            u[:, :3] = 0.0 if velocities is None else velocities
            u[:, 3:] = 0.0 if spins is None else spins
        bodies = self.add_bodies(
            count,
            mass=masses,
            joint=Free(),
            inertia=SOLID * masses * radii**2,
            q=q.ravel(),
            u=None if u is None else u.ravel(),
            names=names,
        )
        on = np.arange(bodies.start, bodies.stop)
        charges = self._rows(charge, count, 0, "charge", called, "charge")
        self._add_chunk(SiteChunk(on, np.zeros((count, 3)), charges, kinds, teams, radii))
        return bodies
