"""Part of the model builder for sites: points on bodies where pair forces act, and contact spheres."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from articulon.building.flexible_bodies import FlexibleBuilder
from articulon.building.handles import ORIGIN, Body
from articulon.errors import ModelError
from articulon.inputs import one_word, shown, whole, words
from articulon.model import body_checks
from articulon.model.joints import Xyz
from articulon.model.model import Sites
from articulon.sizes import PARTICLE, check_size


class SiteChunk(NamedTuple):
    """Sites that were added in one call."""

    body: np.ndarray
    """Body of each site, −1 for the ground, shape (sites,)."""
    position: np.ndarray
    """Positions of the sites, shape (sites, 3)."""
    charge: np.ndarray
    """Charges of the sites, shape (sites,)."""
    kinds: str | list[str]
    """One kind for all sites, or one each."""
    groups: str | list[str]
    """One group for all sites, or one each."""
    radius: np.ndarray
    """Radii of the contact spheres, shape (sites,)."""


class SiteBuilder(FlexibleBuilder):
    """Builder mixin for sites, and for particles with a single site."""

    add_bodies: Callable[..., range]

    def __init__(self) -> None:
        self._sites: list[SiteChunk] = []
        self._site_count = 0
        super().__init__()

    @property
    def site_count(self) -> int:
        """Number of sites added."""
        return self._site_count

    def add_site(
        self,
        body: Body | str | int | None,
        position: Any = ORIGIN,
        charge: Any = 0.0,
        kind: str = "site",
        group: str | None = None,
        node: int | None = None,
        radius: Any = None,
    ) -> int:
        """Add a point where pair forces act, or a contact sphere.

        Parameters
        ----------
        body
            Body that carries the site; None fixes it to the ground.
        position
            Position in the frame of the body or of its node [length], shape (3,).
        charge
            Charge [charge].
        kind
            Kind, which selects the force law of its pairs and the material of its contacts.
        group
            Group, which selects the pairs; by default the name of the kind.
        node
            Node of a flexible body that carries the site and moves with the deformation.
        radius
            Radius of a contact sphere about the site [length], not negative; None or 0 for a point without contacts.

        Returns
        -------
        int
            Index of the site.
        """
        where = f"site {self._site_count}"
        index = self._resolve(body, where, "body")
        where += " on the ground" if index < 0 else f" on body '{self._names[index]}'"
        place = body_checks.array(position, (3,), "length", self.units, f"{where}, position")
        self._check_node(node, index, where, frame=bool(place.any()))
        amount = float(body_checks.array(charge, (), "charge", self.units, f"{where}, charge"))
        size = 0.0 if radius is None else float(body_checks.array(radius, (), "length", self.units, f"{where}, radius"))
        if size < 0.0:
            raise ModelError(f"{where}, radius: expected a length that is not negative, got {size:g}")
        kind, team = one_word(kind, f"{where}, kind"), one_word(kind if group is None else group, f"{where}, group")
        if node is not None:
            self._site_nodes[self._site_count] = int(node)
        one = np.array([index]), place[None], np.array([amount]), kind, team, np.array([size])
        self._add_chunk(SiteChunk(*one))
        return self._site_count - 1

    def add_sites(
        self,
        bodies: Any,
        *,
        positions: Any,
        charge: Any = 0.0,
        kind: str | Sequence[str] = "site",
        group: str | Sequence[str] | None = None,
        radius: Any = 0.0,
    ) -> range:
        """Add many sites at once. The arguments are those of :meth:`add_site`. Each holds one value for all sites, or
        has a leading axis with one value for each site.

        Parameters
        ----------
        bodies
            Index of the body of each site, −1 for the ground, shape (sites,).
        positions
            Positions in the frames of the bodies [length], shape (sites, 3).
        charge
            One charge for all sites, or one each [charge].
        kind, group
            One word for all sites, or one each.
        radius
            Radii of contact spheres about the sites, one for all or one each [length]. Points without contacts have the
            radius 0.

        Returns
        -------
        range
            Indices of the new sites.

        Raises
        ------
        ModelError
            For a body that does not exist, and arrays of wrong shapes.
        """
        called = "add_sites"
        try:
            given = np.asarray(bodies)
            on = given.astype(np.int64)
            whole_numbers = given.ndim == 1 and given.dtype.kind in "iu"
        except (TypeError, ValueError):
            whole_numbers = False
        if not whole_numbers:
            raise ModelError(f"{called}, bodies: expected indices of bodies, one for each site, got {shown(bodies)}")
        wrong = np.flatnonzero((on < -1) | (on >= len(self._names)))
        if wrong.size:
            raise ModelError(f"{called}, bodies: there is no body {on[wrong[0]]} (there are {len(self._names)})")
        count = on.size
        check_size(count, PARTICLE, "sites", called, error=ModelError)
        kinds = self._words(kind, count, called, "kind")
        teams = kinds if group is None else self._words(group, count, called, "group")
        places = self._rows(positions, count, 3, "length", called, "positions")
        charges = self._rows(charge, count, 0, "charge", called, "charge")
        first = self._site_count
        self._add_chunk(SiteChunk(on.copy(), places, charges, kinds, teams, self._radii(radius, count, called)))
        return range(first, self._site_count)

    def add_particles(
        self,
        count: int,
        *,
        mass: Any,
        positions: Any,
        velocities: Any = None,
        charge: Any = 0.0,
        radius: Any = 0.0,
        kind: str | Sequence[str] = "particle",
        group: str | Sequence[str] | None = None,
        names: str | Sequence[str] | None = None,
    ) -> range:
        """Add free particles: bodies that translate but do not rotate, each with a site at its position.

        Parameters
        ----------
        count
            Number of particles.
        mass, charge
            One value for all particles, or one each [mass], [charge].
        radius
            Radius of hard spheres, one for all or one each [length]; by default 0, for point particles.
        positions, velocities
            Positions and velocities, shape (count, 3) [length], [velocity]; by default at rest.
        kind, group
            Kind and group of the sites, one for all or one each; see :meth:`add_site`.
        names
            One name each, or a prefix: "ion" gives "ion-0", "ion-1" and so on; by default the kind.

        Returns
        -------
        range
            Indices of the new bodies.

        Raises
        ------
        ModelError
            For impossible values; the message names the first particle concerned.
        """
        called = "add_particles"
        count = whole(count, f"{called}, count", least=0)
        check_size(count, PARTICLE, "particles", f"{called}, count", error=ModelError)
        kinds = self._words(kind, count, called, "kind")
        moving = None if velocities is None else self._rows(velocities, count, 3, "velocity", called, "velocities")
        bodies = self.add_bodies(
            count,
            mass=self._rows(mass, count, 0, "mass", called, "mass"),
            joint=Xyz(),
            q=self._rows(positions, count, 3, "length", called, "positions").ravel(),
            u=None if moving is None else moving.ravel(),
            names=(kind if isinstance(kind, str) else "particle") if names is None else names,
        )
        teams = kinds if group is None else self._words(group, count, called, "group")
        charges = self._rows(charge, count, 0, "charge", called, "charge")
        on, radii = np.arange(bodies.start, bodies.stop), self._radii(radius, count, called)
        self._add_chunk(SiteChunk(on, np.zeros((count, 3)), charges, kinds, teams, radii))
        return bodies

    def _add_chunk(self, chunk: SiteChunk) -> None:
        self._sites.append(chunk)
        self._site_count += chunk.body.size

    def _radii(self, radius: Any, count: int, called: str) -> np.ndarray:
        """Return the radii of contact spheres, given as one radius for all sites or one each, shape (count,); raises
        ModelError for a negative radius."""
        radii = self._rows(radius, count, 0, "length", called, "radius")
        if not (radii >= 0.0).all():
            raise ModelError(f"{called}, radius: must not be negative, got {radii.min():g}")
        return radii

    def _rows(self, value: Any, count: int, width: int, dimension: str, called: str, what: str) -> np.ndarray:
        """Return values as an array (count,) or (count, width) in the units of the model. They are given as one number
        or row for all sites, or one each."""
        shape = (count, width) if width else (count,)
        given = body_checks.array(value, None, dimension, self.units, f"{called}, {what}")
        try:
            return np.broadcast_to(given, shape).copy()
        except ValueError:
            raise ModelError(f"{called}, {what}: expected shape {shape}, got {given.shape}") from None

    @staticmethod
    def _words(value: str | Sequence[str], count: int, called: str, what: str) -> str | list[str]:
        """Return validated words, given as one word for all sites or one each."""
        if isinstance(value, str):
            return value
        found = list(words(value, f"{called}, {what}"))
        if len(found) != count:
            raise ModelError(f"{called}, {what}: expected one word for all sites, or {count} words, got {len(found)}")
        return found

    def _site_table(self) -> Sites:
        kind, kinds = _numbered([(chunk.kinds, chunk.body.size) for chunk in self._sites])
        group, groups = _numbered([(chunk.groups, chunk.body.size) for chunk in self._sites])
        return Sites(
            np.concatenate([chunk.body for chunk in self._sites] or [np.zeros(0)]).astype(np.int64),
            np.concatenate([chunk.position for chunk in self._sites] or [np.zeros((0, 3))]),
            np.concatenate([chunk.charge for chunk in self._sites] or [np.zeros(0)]),
            kind,
            group,
            np.concatenate([chunk.radius for chunk in self._sites] or [np.zeros(0)]),
            kinds,
            groups,
        )


def _numbered(chunks: list[tuple[str | list[str], int]]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return a number for each site, and the words to which the numbers refer, in the order of their first occurrence.
    Each chunk of sites has one word for all sites or a list of words."""
    number: dict[str, int] = {}
    found = []
    for given, count in chunks:
        if isinstance(given, str):
            found.append(np.full(count, number.setdefault(given, len(number))))
        else:
            found.append(np.array([number.setdefault(word, len(number)) for word in given], dtype=np.int64))
    return np.concatenate(found or [np.zeros(0)]).astype(np.int64), tuple(number)
