"""The contract of a force: one class in one file, found automatically in its package.

A force is a declaration, which holds the user's input, and the functions of its kind. ``gather`` makes one table of
arrays from all declarations of its kind in a model. ``channels`` names the channels in which it acts. ``fill`` and
``energy`` return the passes that add its forces and its energy to these channels, for links whose poses and velocities
are computed. ``fill_without_resistance`` omits the forces that ``friction-implicit`` solves for together with the drag.
For a coarse model, in which bodies are merged, ``coarsen`` makes the table, and ``on_coarse`` makes the declaration. A
force without ``coarsen`` is rejected if joints lock and release. ``adjoint`` gives the derivatives of its forces for
``ar.sensitivity``, which rejects a force without it. ``position_restraints.py`` is a short example.

``solver_tables.py`` holds the forces that solvers must treat themselves: drag and its noise, which implicit schemes
solve for together with the inertias; gravity, which is an acceleration of the frame; contacts; and the forces between
listed sites.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, Self

import numpy as np

from articulon.declaration import Declaration
from articulon.errors import ModelError
from articulon.forces.channel_forces import ChannelForces
from articulon.model import Forest, Model, Workspace
from articulon.passes import Bound
from articulon.thermostats.total_momentum import OUTSIDE

if TYPE_CHECKING:
    from articulon.forces.user_functions import UserFunctions


class At(NamedTuple):
    """Input and output arrays of the passes that add forces."""

    forest: Forest
    """The links."""
    ws: Workspace
    """Workspace of the links, with their poses and velocities computed."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    time: np.ndarray
    """Time [time], shape (1,)."""
    window: np.ndarray
    """Index of the noise window, shape (1,)."""
    channels: ChannelForces
    """Output: ``wrench[channel]`` (links, 6), force and moment about the link's origin, world axes, and
    ``joint[channel]`` (nu,)."""
    damping: np.ndarray
    """Output: drag, shape (links, 6)."""
    stochastic: np.ndarray
    """Output: Brownian forces, shape (links, 6)."""


class EnergyAt(NamedTuple):
    """Input and output arrays of the passes that add energies."""

    forest: Forest
    """The links."""
    ws: Workspace
    """Workspace of the links, with their poses computed."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    result: np.ndarray
    """Output: energy by channel, to which the passes add [energy], shape (8,)."""


class LinkNumbers(NamedTuple):
    """Changes of the parameters of links and of their joint frames, or derivatives with respect to these parameters."""

    mass: np.ndarray
    """Masses [mass], shape (links,)."""
    moment: np.ndarray
    """First moments of mass about the links' origins, link frames [mass length], shape (links, 3)."""
    inertia: np.ndarray
    """Inertias about the links' origins, link frames [mass length²], shape (links, 6)."""
    position: np.ndarray
    """Origins of the joint frames in the parents' frames [length], shape (links, 3)."""
    turn: np.ndarray
    """Small rotations of the joint frames about these origins, in the parents' frames [rad], shape (links, 3)."""


class AdjointAt(NamedTuple):
    """Input and output arrays of the adjoints of forces.

    Let λ be a set of joint speeds and V the resulting motion of the links. Forces, as wrenches W and joint forces τ,
    then have the virtual power P = Σ V_i·W_i + λ·τ. An adjoint adds the derivatives of P at constant λ and V. The
    derivatives with respect to displacements and velocities of links have the form of wrenches: force and moment about
    the link's origin, world axes.
    """

    forest: Forest
    """The links."""
    ws: Workspace
    """Workspace of the links, with their poses and velocities computed."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    time: np.ndarray
    """Time [time], shape (1,)."""
    weight: np.ndarray
    """λ, shape (nu,)."""
    motion: np.ndarray
    """V: motion of the links' origins, angular part first, world axes, shape (links, 6)."""
    by_place: np.ndarray
    """Derivative of P with respect to displacements of the links, shape (links, 6)."""
    by_velocity: np.ndarray
    """Derivative of P with respect to velocities of the links, shape (links, 6)."""
    by_coordinate: np.ndarray
    """Derivative of P with respect to joint coordinates, in their tangent space, shape (nu,)."""
    by_speed: np.ndarray
    """Derivative of P with respect to joint speeds, shape (nu,)."""
    by_links: LinkNumbers | None
    """Derivatives of P with respect to parameters of links that forces read; None if these are not needed."""


class TangentAt(NamedTuple):
    """Input and output arrays of the directional derivatives of forces."""

    forest: Forest
    """The links."""
    ws: Workspace
    """Workspace of the links, with their poses and velocities computed."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    time: np.ndarray
    """Time [time], shape (1,)."""
    shift: np.ndarray
    """Change of the coordinates, in their tangent space, shape (nu,)."""
    speed: np.ndarray
    """Change of the speeds, shape (nu,)."""
    moved: np.ndarray
    """Displacement of the links' origins and rotation of the links, world axes, shape (links, 6)."""
    twist: np.ndarray
    """Change of the velocities of the links' origins and of the links' angular velocities, world axes, shape
    (links, 6)."""
    wrench: np.ndarray
    """Output: changes of forces and of moments about the links' origins, world axes, shape (links, 6)."""
    joint: np.ndarray
    """Output: changes of the joints' generalised forces, shape (nu,)."""
    links: LinkNumbers
    """Changes of the parameters of links, for forces that read them."""


class Merging(Protocol):
    """The mapping of links and speeds to those of a coarse model with merged bodies; an input of ``coarsen``."""

    @property
    def locked(self) -> np.ndarray:
        """Whether each lockable part is locked: first the joints of the fine model's links, then modes, shape
        (parts,)."""

    @property
    def link(self) -> np.ndarray:
        """Coarse link that carries each fine link, −1 for the ground, shape (links,)."""

    @property
    def u_of(self) -> np.ndarray:
        """Coarse speed of each fine speed; for a locked fine speed, the next coarse speed, shape (nu,)."""

    @property
    def moves(self) -> np.ndarray:
        """Whether each fine speed is also a coarse one, shape (nu,)."""

    def carriers(self, links: np.ndarray) -> np.ndarray:
        """Return the coarse links that carry the given fine links, −1 for the ground."""

    def points(self, links: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Convert points (n, 3) from the frames of fine links to those of the coarse links that carry them; −1 is the
        ground."""

    def rotated(self, links: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """Convert rotations (n, 4) from the frames of fine links to those of the coarse links that carry them."""


class Force(Declaration):
    """Base of every force on bodies and joints."""

    is_force: ClassVar[bool] = True
    """Distinguishes forces from other declarations."""
    energy_channel: ClassVar[int | None] = None
    """Channel of its energy; None for a force without an energy function."""
    on_joints: ClassVar[bool] = False
    """Whether it acts on joint coordinates, which a model in Cartesian form does not have."""
    laplacian: ClassVar[Literal["known", "not known"]] = "not known"
    """Whether its contribution to the Laplacian of the potential energy is known: zero, or provided."""
    of_determinant: ClassVar[bool] = False
    """Whether its energy is c ln det M and so changes when joints lock; M is the mass matrix of the unlocked
    motions."""
    side_by_side: ClassVar[bool] = False
    """Whether its passes evaluate several states side by side, in lanes. Such passes do not branch on numbers that
    differ between states, and all their scratch is in the table that ``in_lanes`` returns."""
    resistance: ClassVar[Literal["joints", "dashpots", "drives", "other"]] = "other"
    """Kind of its resistance to speeds, if any. ``friction-implicit`` solves for the resistance of joints, with tables
    of type ``JointFrictions``, of dashpots, with tables of type ``PointSprings``, and of ``joint-drive``."""

    def goes_side_by_side(self) -> bool:
        """Whether this force evaluates several states side by side."""
        return self.side_by_side

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError, naming the key, for a value that is invalid in this model."""

    @classmethod
    def gather(cls, model: Model, declared: Sequence[tuple[str, Self]], users: "UserFunctions | None") -> Any:
        """Return the table of all declarations of this kind, each with its place in the case; None if there is no
        force. ``users`` compiles the functions written by a user; None if only energies are needed.
        """
        raise NotImplementedError

    @classmethod
    def channels(cls, table: Any) -> tuple[Iterable[int], Iterable[int]]:
        """Channels in which it acts, by wrenches on links and by forces on joints."""
        raise NotImplementedError

    @classmethod
    def fill(cls, table: Any, at: At) -> Iterator[Bound]:
        """Return the passes that add its forces."""
        raise NotImplementedError

    @classmethod
    def fill_without_resistance(cls, table: Any, at: At) -> Iterator[Bound]:
        """Return the passes that add its forces without the resistance to speeds that ``friction-implicit`` solves
        for."""
        yield from cls.fill(table, at)

    @classmethod
    def energy(cls, table: Any, at: EnergyAt) -> Iterator[Bound]:
        """Return the passes that add its energy; none for a force without an energy function."""
        yield from ()

    @classmethod
    def in_lanes(cls, table: Any) -> Any:
        """Return the table for several states side by side, with scratch in lanes that is newly allocated at every
        call."""
        return table

    @classmethod
    def resists(cls, table: Any) -> bool:
        """Whether it resists speeds in addition to Stokes drag. A scheme without inertia does not solve for such a
        resistance."""
        return False

    @classmethod
    def reads_speeds(cls, table: Any) -> bool:
        """Whether the forces of ``fill_without_resistance`` depend on speeds. Unless a kind returns False,
        ``friction-implicit`` evaluates them again at the speeds of every part of a kick."""
        return True

    @classmethod
    def joint_stiffness(cls, table: Any) -> Iterable[tuple[int, float]]:
        """Links on whose joints it exerts a restoring force, each with the smallest stiffness of that force
        [energy/rad²]."""
        return ()

    @classmethod
    def determinant_energy(cls, table: Any) -> float:
        """The constant c of a force with the energy c ln det M (``of_determinant``) [energy]."""
        return 0.0

    def momentum_changes(self, model: Model) -> str | None:
        """Reason why this force changes the total momentum of a model, as the end of a sentence; None for a force that
        acts only between bodies and therefore does not change the momentum."""
        return OUTSIDE

    @property
    def lacks_temperature(self) -> bool:
        """Whether its ``temperature`` is missing, so that it takes the temperature of the bath."""
        return False

    def check_baths(self, baths: Sequence[tuple[str, float]]) -> None:
        """Raises ModelError if it is incompatible with the baths of a run (thermostat or Brownian forces), given by
        name and temperature [temperature]."""

    def check_duration(self, duration: float, where: str) -> None:
        """Raises ModelError, naming the key, if it is not defined for the whole duration of a run [time]."""

    def check_follows(self, where: str) -> None:
        """Raises ModelError if this declaration cannot be coarsened although its kind can."""

    coarsen: ClassVar[Any] = None
    """``coarsen(table, merging, links, speeds)``, a class method: the table in a coarse model with merged bodies and
    the given numbers of links and speeds; it returns None if no such force remains. The attribute is None for a force
    that cannot be coarsened."""

    adjoint: ClassVar[Any] = None
    """``adjoint(table, gradient, at)``, a class method: passes that add the derivatives of the virtual power of its
    forces with respect to the state (see ``AdjointAt``) and to the numbers of its table. The latter are added to
    ``gradient``, a table of the same type. Scratch left by ``fill`` may belong to another state, except with
    ``adjoint_reads_fill``. None for a force whose derivatives are not known."""
    adjoint_reads_fill: ClassVar[bool] = False
    """Whether ``adjoint`` reads scratch of the latest ``fill``, which must then have been at the same state."""

    tangent: ClassVar[Any] = None
    """``tangent(table, change, at)``, a class method: passes that add the change of its forces with the state (see
    ``TangentAt``) and with the numbers of its table. The changes of these numbers are in ``change``, a table of the
    same type. A force with ``adjoint`` has this too."""
    not_differentiated: ClassVar[tuple[str, ...]] = ()
    """Numerical fields of the declaration for which ``adjoint`` has no derivatives."""
    curved: ClassVar[tuple[str, ...]] = ()
    """Fields whose effect on the numbers of the table is not a polynomial of degree four or less."""

    @classmethod
    def numbers(cls, table: Any) -> Any:
        """Return the table without scratch, only with the numbers that may have derivatives."""
        return table

    def check_adjoint(self, where: str) -> None:
        """Raises ModelError if this declaration has no derivatives although its kind has."""

    def on_coarse(self, model: Model, coarse: Model, where: str) -> Self | None:
        """Return the declaration in a coarse model, or None if no such force remains; raises ModelError if the force
        cannot be declared there."""
        return self


class Term(NamedTuple):
    """A kind of force and its table in a model."""

    kind: type[Force]
    table: Any


def terms_of(model: Model, users: "UserFunctions | None") -> tuple[Term, ...]:
    """Return the forces of a model, without those that solvers treat themselves, in the order of their declarations."""
    kinds: dict[type[Force], list[tuple[str, Any]]] = {}
    for k, force in enumerate(model.forces):
        if not isinstance(force, Force):
            continue
        if force.of_determinant and model.loops.kind.size:
            raise ModelError(
                f"forces[{k}]: its energy holds for coordinates that move freely, but {model.loop_name(0)} "
                "constrains them; leave out the loops and drives, or this force"
            )
        kinds.setdefault(type(force), []).append((f"forces[{k}]", force))
    found = (Term(kind, kind.gather(model, declared, users)) for kind, declared in kinds.items())
    return tuple(term for term in found if term.table is not None)


def check_baths(model: Model, baths: Sequence[tuple[str, float]]) -> None:
    """Raises ModelError for a force that is incompatible with the baths of a run (thermostat or Brownian forces), given
    by name and temperature [temperature]."""
    for force in model.forces:
        if isinstance(force, Force):
            force.check_baths(baths)


def check_durations(model: Model, duration: float) -> None:
    """Raises ModelError for a force that is not defined for the whole duration of a run [time]."""
    for k, force in enumerate(model.forces):
        if isinstance(force, Force):
            force.check_duration(duration, f"forces[{k}]")
