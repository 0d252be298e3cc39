"""Tables of a model as kernels read them, and the scratch of its evaluation."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from articulon.dynamics.loops.conditions import MOTION
from articulon.dynamics.loops.given_motions import motion_functions
from articulon.dynamics.solvers import solver_scratch
from articulon.forces.base import At
from articulon.forces.brownian import fill_noise
from articulon.forces.channel_forces import ChannelForces, channel_forces
from articulon.forces.contact.contact_engine import Contacts, contact_of
from articulon.forces.impacts.free_spheres import weightless_hard_spheres
from articulon.forces.impacts.impact_engine import ImpactEngine
from articulon.forces.model_tables import force_tables
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.forces.sites.site_positions import only_particles
from articulon.forces.solver_tables import Forces
from articulon.forces.user_functions import UserFunctions
from articulon.model import Forest, Loops, Model, Motions, Workspace, kernel_tables, workspace
from articulon.passes import Bound, Pass, functions
from articulon.thermostats.base import EFFECT, OVERDAMPS, BaseThermostat, Bath, no_bath, variables_of


class System(NamedTuple):
    """All tables of a model that kernels read."""

    forest: Forest
    forces: Forces
    loops: Loops
    motions: Motions
    bath: Bath


class ModelTables:
    """The tables of a model, its users' functions, and the scratch of its evaluation.

    Parameters
    ----------
    model
        The model.
    seed
        Seed of the Brownian forces.
    window
        Length of a fine noise window [time]; needed if the model has Brownian forces.
    average
        Number of fine windows averaged into each held window.
    solver
        Name of the equation-of-motion algorithm.
    rotations
        ``"speeds"``, or ``"euler-parameters"`` to integrate Euler parameters by their accelerations.
    thermostat
        Thermostat. If it is part of the equations of motion, it acts in every evaluation; otherwise in the steps of an
        integrator that supports it.
    target_factor
        Factor by which a scaling policy multiplies the thermostat's target.
    changing_box
        Whether the box changes along the run, so that it is part of the state.
    """

    def __init__(
        self,
        model: Model,
        seed: int = 0,
        window: float = 1.0,
        average: int = 1,
        solver: str = "articulated",
        rotations: str = "speeds",
        thermostat: BaseThermostat | None = None,
        target_factor: float = 1.0,
        changing_box: bool = False,
    ) -> None:
        self.model, self.solver_name, self.rotations, self.thermostat = model, solver, rotations, thermostat
        self.changing_box, self.seed = changing_box, seed
        self.target_factor = target_factor
        bath = no_bath() if thermostat is None else thermostat.table(model, seed, target_factor)
        self.particles = only_particles(model) or weightless_hard_spheres(model)
        self.sites = self._site_forces()
        law = contact_of(model)
        self.contacts = None if law is None else Contacts(model, law)
        self.users = UserFunctions(others=self.sites.users)
        tables = force_tables(model, seed, window, average, self.sites, bath, self.users)
        forest, loops, motions = kernel_tables(model)
        self.system = System(forest, tables, loops, motions, bath)
        self.linear_flow = tables.flow
        self.bath = np.zeros((2, variables_of(bath)))
        self.overdamped = bool(bath.choice[EFFECT] == OVERDAMPS)
        self.constrained = bool(model.loops.kind.size) or rotations == "euler-parameters"
        self.motion_functions = functions(motion_functions(model), MOTION)
        self._on_sites: list[tuple[Bound, tuple[Any, ...]]] = []

    def _site_forces(self) -> SiteForces:
        """The site forces of the model."""
        return SiteForces(self.model)

    def zeros(self, shape: tuple[int, ...]) -> Any:
        """Allocate an array of zeros that belongs to a state."""
        return np.zeros(shape)

    # Arrays that free particles do not need are created at first use.

    @cached_property
    def ws(self) -> Workspace:
        """Scratch of the dynamics."""
        return workspace(self.system.forest)

    @cached_property
    def impacts(self) -> ImpactEngine:
        """Impacts and stops, if the model has any."""
        return ImpactEngine(self.model)

    @cached_property
    def channels(self) -> ChannelForces:
        """Forces by channel at the latest evaluation."""
        links, bodies = self.system.forest.parent.size, self.system.forces.drag.link.size
        channels = channel_forces(links, self.model.nu, bodies, variables_of(self.system.bath))
        return channels._replace(bath=self.bath)

    @cached_property
    def solver(self) -> Any:
        """Scratch of the equation-of-motion algorithm."""
        return solver_scratch(self.model, self.solver_name, self.rotations)

    def bind_sites(self, which: Pass, *arguments: Any) -> Bound:
        """Bind a pass to the site forces, the functions that they need and further arguments, and rebind it whenever a
        list grows."""
        bound = which.bind(*self._site_arguments(), *arguments)
        self._on_sites.append((bound, arguments))
        return bound

    def noise_passes(self, at: At) -> Iterator[Bound]:
        """Return the passes that add Brownian forces to ``at.stochastic``."""
        forces, channels = self.system.forces, at.channels
        held, degrees_of_freedom = (channels.held, channels.held_window), float(self.model.degrees_of_freedom)
        yield fill_noise.bind(
            at.forest, forces.drag, forces.noise, at.window, degrees_of_freedom, at.ws, *held, at.stochastic
        )

    def _site_arguments(self) -> tuple[Any, ...]:
        total, terms, refresh = self.sites.bound_functions
        return self.sites.system, total, terms, refresh

    def grow(self) -> None:
        """Enlarge the neighbour lists."""
        self.sites.grow()
        self._take_lists()

    def list_always(self) -> None:
        """Rebuild the neighbour list whenever sites move, so that repeated steps give results that are identical in
        every bit."""
        if self.sites.listed and self.sites.listing.skin > 0.0:
            self.sites.list_always()
            self._take_lists()

    def _take_lists(self) -> None:
        """Replace the lists in all tables that contain them."""
        if self.system.forces.sites is self.sites.system:
            return
        self.system = self.system._replace(forces=self.system.forces._replace(sites=self.sites.system))
        for bound, arguments in self._on_sites:
            bound.rebind(*self._site_arguments(), *arguments)
