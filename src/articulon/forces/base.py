"""The contract of a force: one class in one file, which is found by itself.

A force is a declaration, what a user states, and functions of its kind. ``gather`` makes one table of arrays of all
declarations of its kind in a model; ``channels`` says in which channels it acts; ``fill`` and ``energy`` give the
passes that add its forces to the channels and its energy to theirs, at links that have been placed and moved;
``fill_without_resistance`` leaves out of the forces what ``friction-implicit`` solves for with the drag;
``coarsen`` makes the table of a coarse model, in which bodies are merged, and ``on_coarse`` the declaration. One that
has no ``coarsen`` is refused where joints lock and release. ``adjoint`` gives the derivatives of its forces for
``ar.sensitivity``, which refuses one without. ``position_restraints.py`` is a short example.

What solvers must know themselves is in ``solver_tables.py``: drag and its noise, which implicit rules solve with the
inertias, gravity, which is an acceleration of the frame, contacts, and the forces between listed sites.
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
    """What forces are evaluated at, and where they are written."""

    forest: Forest
    """The links."""
    ws: Workspace
    """Links that have been placed and moved."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    time: np.ndarray
    """[time], shape (1,)."""
    window: np.ndarray
    """Number of the window of noise, shape (1,)."""
    channels: ChannelForces
    """Where forces are written: ``wrench[channel]`` (links, 6), force and moment about the link's origin, world axes,
    and ``joint[channel]`` (nu,)."""
    damping: np.ndarray
    """Where drag is written, shape (links, 6)."""
    stochastic: np.ndarray
    """Where Brownian forces are written, shape (links, 6)."""


class EnergyAt(NamedTuple):
    """What energies are evaluated at, and where they are written."""

    forest: Forest
    """The links."""
    ws: Workspace
    """Links that have been placed."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    result: np.ndarray
    """Energy by channel [energy], to which the passes add, shape (8,)."""


class AdjointAt(NamedTuple):
    """What adjoints of forces are evaluated at, and where they are written.

    With λ a set of joint speeds and V the motion of the links by them, forces have the virtual power
    P = Σ V_i·W_i + λ·τ. An adjoint adds what P changes by where λ and V are held: its derivatives by displacements and
    by velocities of links are wrenches too, force and moment about the link's origin, world axes.
    """

    forest: Forest
    """The links."""
    ws: Workspace
    """Links that have been placed and moved."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    time: np.ndarray
    """[time], shape (1,)."""
    weight: np.ndarray
    """λ, shape (nu,)."""
    motion: np.ndarray
    """V, of the link's origin, angular part first, world axes, shape (links, 6)."""
    by_place: np.ndarray
    """∂P by displacements of the links, shape (links, 6)."""
    by_velocity: np.ndarray
    """∂P by their velocities, shape (links, 6)."""
    by_coordinate: np.ndarray
    """∂P by coordinates of joints, in their tangent space, shape (nu,)."""
    by_speed: np.ndarray
    """∂P by speeds of joints, shape (nu,)."""


class TangentAt(NamedTuple):
    """What changes of forces are evaluated at, and where they are written."""

    forest: Forest
    """The links."""
    ws: Workspace
    """Links that have been placed and moved."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    time: np.ndarray
    """[time], shape (1,)."""
    shift: np.ndarray
    """Change of the coordinates, in their tangent space, shape (nu,)."""
    speed: np.ndarray
    """Change of the speeds, shape (nu,)."""
    moved: np.ndarray
    """Displacement of the links' origins and turn of the links, world axes, shape (links, 6)."""
    twist: np.ndarray
    """Change of the velocities of the links' origins and of the links' angular velocities, world axes, shape
    (links, 6)."""
    wrench: np.ndarray
    """Where changes of forces and moments about the links' origins are written, world axes, shape (links, 6)."""
    joint: np.ndarray
    """Where those of the joints' generalised forces are, shape (nu,)."""


class Merging(Protocol):
    """What becomes of links and speeds where bodies are merged: what ``coarsen`` reads of it."""

    @property
    def locked(self) -> np.ndarray:
        """Links of the fine model whose joints are locked come first, then modes, shape (parts,)."""

    @property
    def link(self) -> np.ndarray:
        """The coarse link that carries each fine one, −1 for the ground, shape (links,)."""

    @property
    def u_of(self) -> np.ndarray:
        """The coarse speed that each fine one is; of locked ones the next, shape (nu,)."""

    @property
    def moves(self) -> np.ndarray:
        """Which fine speeds are coarse ones, shape (nu,)."""

    def carriers(self, links: np.ndarray) -> np.ndarray:
        """The coarse links that carry fine ones, −1 for the ground."""

    def points(self, links: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Points (n, 3) given on fine links, on the coarse ones that carry these; −1 is the ground."""

    def rotated(self, links: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """Rotations (n, 4) given on fine links, on the coarse ones that carry these."""


class Force(Declaration):
    """Base of every force on bodies and joints."""

    is_force: ClassVar[bool] = True
    """What tells it from other declarations."""
    energy_channel: ClassVar[int | None] = None
    """The channel that its energy function belongs to; None for a force without one."""
    on_joints: ClassVar[bool] = False
    """Whether it acts on coordinates of joints, which a model in Cartesian form has not."""
    laplacian: ClassVar[Literal["known", "not known"]] = "not known"
    """Whether its part of the Laplacian of the potential energy is known: it has none, or tells it."""
    of_determinant: ClassVar[bool] = False
    """Whether its energy is c ln det M, M being the mass matrix of the motions that there are, so that it changes when
    joints lock."""
    side_by_side: ClassVar[bool] = False
    """Whether its passes do several states side by side, in lanes: they branch on no number that differs between
    states, and what they keep beside the table's constants is in what ``in_lanes`` gives."""
    resistance: ClassVar[Literal["joints", "dashpots", "drives", "other"]] = "other"
    """What its resistance to speeds is, if it has one. ``friction-implicit`` solves for that of joints, whose tables
    are ``JointFrictions``, of dashpots, whose tables are ``PointSprings``, and of ``joint-drive``."""

    def goes_side_by_side(self) -> bool:
        """Whether this one does several states side by side."""
        return self.side_by_side

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError, naming the key, for what cannot be with a model."""

    @classmethod
    def gather(cls, model: Model, declared: Sequence[tuple[str, Self]], users: "UserFunctions | None") -> Any:
        """The table of all declarations of this kind, each with where it stands; None where nothing acts.

        ``users`` compiles the functions that a user has written; None where only energies are wanted.
        """
        raise NotImplementedError

    @classmethod
    def channels(cls, table: Any) -> tuple[Iterable[int], Iterable[int]]:
        """Channels that it acts in, by wrenches on links and by forces on joints."""
        raise NotImplementedError

    @classmethod
    def fill(cls, table: Any, at: At) -> Iterator[Bound]:
        """Passes that add its forces."""
        raise NotImplementedError

    @classmethod
    def fill_without_resistance(cls, table: Any, at: At) -> Iterator[Bound]:
        """Passes that add its forces but for the resistance to speeds that ``friction-implicit`` solves for."""
        yield from cls.fill(table, at)

    @classmethod
    def energy(cls, table: Any, at: EnergyAt) -> Iterator[Bound]:
        """Passes that add its energy; none for a force that has no energy function."""
        yield from ()

    @classmethod
    def in_lanes(cls, table: Any) -> Any:
        """The table for several states side by side: scratch in it is lanes, new at every call."""
        return table

    @classmethod
    def resists(cls, table: Any) -> bool:
        """Whether it resists speeds, beside Stokes drag: a rule that leaves inertia out does not solve for it."""
        return False

    @classmethod
    def reads_speeds(cls, table: Any) -> bool:
        """Whether what ``fill_without_resistance`` adds depends on speeds. Unless a kind says that it does not,
        ``friction-implicit`` finds it anew at the speeds of every part of a kick."""
        return True

    @classmethod
    def joint_stiffness(cls, table: Any) -> Iterable[tuple[int, float]]:
        """Links whose joints it draws back, each with at least the stiffness of that [energy/rad²]."""
        return ()

    @classmethod
    def determinant_energy(cls, table: Any) -> float:
        """c of a force that is ``of_determinant`` [energy]."""
        return 0.0

    def momentum_changes(self, model: Model) -> str | None:
        """Why the total momentum of a model changes by it, as the end of a sentence about it; None where it does not,
        because it acts between bodies alone."""
        return OUTSIDE

    def check_baths(self, baths: Sequence[tuple[str, float]]) -> None:
        """Raises ModelError where it does not go with what keeps the run warm: names, and temperatures
        [temperature]."""

    def check_duration(self, duration: float, where: str) -> None:
        """Raises ModelError, naming the key, for what does not last a run so long [time]."""

    def check_follows(self, where: str) -> None:
        """Raises ModelError where this one cannot follow bodies that are merged, although its kind can."""

    coarsen: ClassVar[Any] = None
    """``coarsen(table, merging, links, speeds)``, a class method: the table where bodies are merged, of a coarse model
    with so many links and speeds; None where nothing of it is left. None for a force that cannot follow."""

    adjoint: ClassVar[Any] = None
    """``adjoint(table, gradient, at)``, a class method: passes that add what the virtual power of its forces changes by
    with the state, see ``AdjointAt``, and with the numbers of its table, to ``gradient``, a table like it. What
    ``fill`` has left in scratch may be of another state. None for a force whose derivatives are not known."""

    tangent: ClassVar[Any] = None
    """``tangent(table, change, at)``, a class method: passes that add what its forces change by with the state, see
    ``TangentAt``, and with the numbers of its table, of which ``change``, a table like it, are the changes. It goes
    with ``adjoint``."""
    not_differentiated: ClassVar[tuple[str, ...]] = ()
    """Fields of the declaration by which ``adjoint`` has no derivatives, although they are numbers."""
    curved: ClassVar[tuple[str, ...]] = ()
    """Fields of which the numbers of the table are no polynomials of a degree of four at most."""

    def check_adjoint(self, where: str) -> None:
        """Raises ModelError where this one has no derivatives, although its kind has."""

    def on_coarse(self, model: Model, coarse: Model, where: str) -> Self | None:
        """The declaration in a coarse model, None where nothing of it is left; raises ModelError where it cannot be."""
        return self


class Term(NamedTuple):
    """A kind of force and its table in a model."""

    kind: type[Force]
    table: Any


def terms_of(model: Model, users: "UserFunctions | None") -> tuple[Term, ...]:
    """The forces of a model but for those that solvers know themselves, in the order of their declarations."""
    kinds: dict[type[Force], list[tuple[str, Any]]] = {}
    for k, force in enumerate(model.forces):
        if not isinstance(force, Force):
            continue
        if force.of_determinant and model.loops.kind.size:
            raise ModelError(
                f"forces[{k}]: its energy is that of coordinates that move freely, and {model.loop_name(0)} binds "
                "them; leave out the loops and drives, or this force"
            )
        kinds.setdefault(type(force), []).append((f"forces[{k}]", force))
    found = (Term(kind, kind.gather(model, declared, users)) for kind, declared in kinds.items())
    return tuple(term for term in found if term.table is not None)


def check_durations(model: Model, duration: float) -> None:
    """Raises ModelError for a force that does not last a run so long [time]."""
    for k, force in enumerate(model.forces):
        if isinstance(force, Force):
            force.check_duration(duration, f"forces[{k}]")
