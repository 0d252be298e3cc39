"""Reasons why integrators exclude features of a run, in the words of messages and of the docs."""

from collections.abc import Mapping
from typing import NamedTuple

PARTICLE_RULES = ("velocity-verlet", "r-respa", "ermak-mccammon")
"""Names of the integrators that move free particles on plain arrays."""


class Refusal(NamedTuple):
    """A reason why a combination is refused. The texts are templates for the words of ``words_of``."""

    key: str
    """The key that a message begins with."""
    why: str
    """The reason, for messages and for the docs."""
    instead: str
    """What to do."""
    here: str = ""
    """The part of the model concerned, for messages only."""
    elsewhere: bool = False
    """Whether the combination is refused elsewhere, with another message: at the declaration, or when bodies are
    checked."""

    def message(self, words: Mapping[str, str]) -> str:
        """The message of the error."""
        return f"{self.key}: {self.why}{self.here}; {self.instead}".format_map(words)


RULE = "integrator.rule"


def of_rule(why: str, instead: str, here: str = "") -> Refusal:
    return Refusal(RULE, f"{{rule}} {why}", instead, here)


ARMATURES = of_rule(
    "computes kinetic energy from the motion of links, which leaves out that of armatures",
    "choose friction-implicit with drift = 'steady', one of {explicit}, or leave the armatures out",
)
_WITH_CONTACTS = "choose velocity-verlet with a step"
TRIED_CONTACTS = of_rule(
    "evaluates trial states off the path of the bodies, and how far touching spheres have slid is known along that "
    "path only",
    _WITH_CONTACTS,
)
CANONICAL_CONTACTS = of_rule(
    "is a map of (q, p) for the forces of one potential, and contacts dissipate energy and depend on how spheres have "
    "slid",
    _WITH_CONTACTS,
)
IMPLICIT_CONTACTS = of_rule(
    "is meant for steps longer than the relaxation times of drag, and the stiffness of contacts limits steps to less",
    "choose velocity-verlet with a step, which takes drag with contacts",
)
SPEEDLESS_CONTACTS = of_rule("has no speeds, on which the damping and the friction of contacts depend", _WITH_CONTACTS)
SLOWER_CONTACTS = of_rule(
    "saves evaluations of forces that change slowly, and contacts change fastest of all", _WITH_CONTACTS
)
PARTICLES_ONLY = of_rule(
    "moves only free particles under forces between their sites",
    "choose {of_bodies}",
    ", and this model has other bodies or forces",
)
REFLECTING = of_rule(
    "assumes smooth motion within a step, and the reflecting walls that box.boundaries sets reverse the motion "
    "instantaneously",
    f"choose one of {', '.join(PARTICLE_RULES)} for a model of free particles with no forces but those between sites, "
    "or a wall with a potential (lennard-jones-wall)",
)
REFLECTED_SPHERES = of_rule(
    "with contacts lets the surfaces of spheres touch walls, and the reflecting walls that box.boundaries sets act on "
    "centres",
    "make the boundaries open, and add walls of shape 'box' to the contacts",
)
RATES = of_rule(
    "integrates speeds, not the accelerations of Euler parameters", "choose one of {explicit}, or rotations = 'speeds'"
)
TOUCHING_RATES = of_rule(
    "with contacts integrates speeds, not the accelerations of Euler parameters", "set dynamics.rotations = 'speeds'"
)
LOOPS = of_rule(
    "does not support loops or driven joints",
    "choose one of friction-implicit, {explicit}, or leave the loops and drives out",
    ", and the model has {loop}",
)
CANONICAL_LOOPS = of_rule(
    "works in canonical momenta, which are not defined for coordinates bound by loops or given motions",
    "choose friction-implicit, one of {stepping}, or leave out the loops and drives",
)
CANONICAL_SWINGS = of_rule(
    "works in momenta of Euler parameters, one of which is a momentum of spin, and a swing joint has no spin",
    "choose friction-implicit with drift = 'geodesic', which is symplectic too, or one of {stepping}",
)
OTHER_RESISTANCE = of_rule(
    "treats Stokes drag, the damping and friction of joints, their drives and the damping of modes and of point "
    "springs implicitly, and does not know how {resisting} depends on speeds",
    "leave that force out, or choose one of {explicit}, or 'scipy-radau' if the force is stiff",
)
OVERDAMPED_FRICTION = of_rule(
    "moves bodies by a mobility that forces and noise share, and the damping and friction of joints, of springs "
    "between points and of other forces have no noise, so that no temperature would be sampled",
    "leave these out, or choose friction-implicit or one of {explicit}",
)
SOLVERS = of_rule(
    "works by the articulated-body algorithm and does not use {solver}",
    "choose the solver 'articulated', or one of {explicit}",
)
NOTHING_TO_SOLVE = of_rule(
    "moves single bodies on plain arrays and does not use {solver}", "choose the solver 'articulated'"
)
FLEXIBLE = of_rule(
    "moves bodies by the gradient of their kinetic energy in canonical momenta, which is available for rigid bodies "
    "only",
    "choose friction-implicit with drift = 'steady', one of {stepping}, or one of SciPy's",
    ", and {body} is flexible",
)
OVERDAMPED_MODES = of_rule(
    "moves bodies by a mobility that forces and noise share; modes have no drag except that on their nodes, and their "
    "damping has no noise",
    "choose friction-implicit, or one of {stepping}",
    ", and {body} is flexible",
)
INTERPOLATES = "interpolates over steps, between which the noise jumps"
NO_PLACE = "is a map of (q, p) without noise"


def without_noise(why: str) -> Refusal:
    return of_rule(why, "choose one of friction-implicit, {explicit}, or leave out the Brownian forces")


TOUCHING_NOISE = of_rule(
    "moves bodies whose contacts dissipate energy, and no noise returns it: Brownian forces would not keep them at a "
    "temperature",
    "leave these out, or let spheres repel each other by forces between sites, such as site-pairs",
)
CANONICAL_BATH = of_rule(
    "is a map of canonical momenta and does not support {thermostat}", "choose {carrying}, or leave out the thermostat"
)
RATES_BATH = of_rule(
    "integrates rates of change, but {thermostat} acts by noise, which has no rate of change", "choose {carrying}"
)
TOUCHING_BATH = of_rule(
    "moves bodies whose contacts dissipate energy, and no noise returns it: no thermostat would sample an ensemble",
    "leave it out, or let spheres repel each other by forces between sites, such as site-pairs",
)
SPEEDLESS_BATH = of_rule(
    "has no speeds that {thermostat} could keep at a temperature",
    "leave out [thermostat] and add the forces stokes-drag and brownian, or choose friction-implicit",
)
OVERDAMPING = Refusal(
    "thermostat.kind",
    "{thermostat} and {rule} do not go together: overdamped motion has no speeds",
    "take the rule 'ermak-mccammon' and the thermostat 'overdamped' together, or neither",
)
INSTANTANEOUS = of_rule(
    "has no kinetic temperature that Brownian forces could follow", "set forces.brownian.amplitude_from to 'bath'"
)
WITHOUT_DRAG = of_rule("needs drag that acts, and forces.brownian.dissipation is 'none'", "set it to 'drag'")
SHADOWED_IMPACTS = of_rule(
    "conserves a Hamiltonian near the model's that depends on the length of the step, and an impact ends a step "
    "early: at every impact the energy would jump by the difference between two such Hamiltonians",
    "choose friction-implicit with drift = 'steady', or one of {explicit}",
)
TOUCHING_IMPACTS = of_rule(
    "with contacts takes steps of one length, over which contacts record how spheres have slid, and an impact ends a "
    "step early",
    "let all spheres meet by contacts, or all by impacts with one of {explicit}",
)
BROKEN_OFF = of_rule(
    "carries information about the forces from step to step, which an impact makes invalid",
    "choose one of {explicit}",
)
NO_SPEEDS_TO_HIT = of_rule(
    "has no speeds that an impact could change", "choose one of {explicit}, or leave the impacts out"
)
SMOOTH_SPHERES = of_rule(
    "goes from impact to impact: it computes when two smooth spheres in free flight meet, on straight lines or "
    "parabolas",
    "choose one of {explicit}, or leave out everything except smooth spheres, impacts and gravity",
    ", and this model has other bodies, forces, walls, stops or friction",
)
NO_IMPACTS = of_rule("takes steps only from impact to impact", "add forces.impacts, or choose another rule")
BETWEEN_IMPACTS = of_rule(
    "lets spheres fly freely between impacts, where {thermostat} would act on them all the time",
    "leave it out, or begin at the temperature: spheres that lose no energy keep it",
)
IMPACTS_ALONE = Refusal(
    "scaling.policy", "a policy scales forces, and an impact is not a force", "choose the policy 'none'"
)
FIXED_BOX = Refusal(
    "barostat",
    "{rule} goes from impact to impact in a box of constant size",
    "leave out [barostat], or choose box.lengths that give the packing fraction",
)
NO_DRAG = of_rule(
    "balances forces by drag, and free particles under forces between sites alone have none",
    "give every body stokes-drag, or choose ermak-mccammon with the thermostat overdamped",
)
VARYING = of_rule(
    "carries information about the forces from step to step, which varying factors make invalid",
    "choose a scaling policy of constant factors, or another rule such as kutta-merson",
)
_FOLLOWED = "choose friction-implicit, or one of {explicit}"
LOOKING_BACK = of_rule(
    "carries information about the forces from step to step, which the factors of {policy} make invalid", _FOLLOWED
)
FOLLOWED_MAPS = of_rule(
    "is symplectic only for the forces of one potential, and with {policy} the factor of the forces follows the "
    "motion, so that they have no potential",
    _FOLLOWED,
)
NOTHING_LAGS = of_rule("neglects inertia, so that there is no lag for {policy} to follow", _FOLLOWED)
NOTHING_RELAXES = of_rule(
    "moves particles without drag, and {policy} bounds their lag by their relaxation times m/β", _FOLLOWED
)
TOUCHING_SCALING = of_rule(
    "moves bodies that collide, and scaling changes their collisions: the ratio damping/√(stiffness · mass) depends on "
    "the factor, and the restitution depends on this ratio",
    "leave the scaling policy out",
)
THERMOSTATS_FACTOR = Refusal(
    "scaling.policy",
    "{policy} changes its factor with the thermostat's variable, and {rule} does not do so within a step",
    "choose a policy of constant factors, or one of {explicit}",
)
NO_FORCE = Refusal(
    "scaling.policy",
    "a policy scales forces, and {thermostat} is not a force",
    "choose the policy 'none', or a thermostat of Nosé and Hoover",
)
_LOCKING = "choose friction-implicit, an explicit rule such as dormand-prince, or velocity-verlet"
ADAPTIVE_STEPS = Refusal(
    "adaptive",
    "{rule} carries information about the forces from step to step, which a transition makes invalid",
    f"{_LOCKING}, or leave out [adaptive]",
)
ADAPTIVE_SPEEDS = Refusal(
    "adaptive", "{rule} has no speeds that could be locked", f"{_LOCKING}, or leave out [adaptive]"
)
ADAPTIVE_PARTICLES = Refusal(
    "adaptive",
    "{rule} moves free particles, which have no joints that could be locked",
    f"leave out [adaptive], or give the model joints, and {_LOCKING}",
)
DEVICE = Refusal(
    "run.device",
    "a device such as 'cuda' supports only velocity-verlet for free particles",
    "set it to 'cpu', or use free particles under Lennard-Jones forces and the rule velocity-verlet",
)
DEVICE_BATH = Refusal(
    "run.device",
    "a device such as 'cuda' takes steps at constant energy or with Langevin's thermostat, and {thermostat} needs the "
    "kinetic energy of all particles twice in every step",
    "set it to 'cpu', choose the thermostat langevin, or leave it out",
)
DEVICE_FACTORS = Refusal(
    "run.device",
    "a device such as 'cuda' takes steps with constant factors only",
    "set it to 'cpu', or choose a policy of constant factors",
)
JUMPING_VOLUMES = of_rule(
    "integrates rates of change, and a barostat changes the box in jumps between steps of one length",
    "choose friction-implicit, velocity-verlet for a model of free particles, or leave out [barostat]",
)
SPEEDLESS_VOLUMES = of_rule(
    "has no speeds, and part of the pressure that this barostat reads comes from speeds",
    "take the barostat 'monte-carlo'",
)
TOUCHING_VOLUMES = of_rule(
    "moves bodies whose contacts dissipate energy, and no noise returns it: a barostat would sample no ensemble",
    "leave out [barostat]",
)
SCALED_VOLUMES = Refusal(
    "barostat",
    "scaling changes the pressure and the energy by which a barostat works",
    "choose the scaling policy 'none', or leave out [barostat]",
)
FLOWING_VOLUMES = Refusal(
    "barostat",
    "a flow with a velocity gradient does work all the time, so that no ensemble of constant pressure exists",
    "leave out [barostat], or the gradient",
    elsewhere=True,
)
TIED_VOLUMES = Refusal(
    "barostat",
    "molecules move with the box as wholes, and a body that follows a given motion does not",
    "leave out [barostat], or the drive",
)
SPRUNG_VOLUMES = Refusal(
    "barostat",
    "this barostat needs the virial, which is not known for springs and other forces on bodies",
    "take the barostat 'monte-carlo'",
    elsewhere=True,
)
WALLED_VOLUMES = Refusal(
    "barostat",
    "only a box that is periodic in all three directions can change its size",
    "make all of box.boundaries periodic, or leave out [barostat]",
)
DEVICE_VOLUMES = Refusal(
    "run.device",
    "a device such as 'cuda' keeps the box as it is",
    "set it to 'cpu', or leave out [barostat]",
)
ADAPTIVE_CONTACTS = Refusal(
    "adaptive",
    "contacts depend on how the bodies that touch have slid, which merged bodies do not follow",
    "leave out the contacts, or [adaptive]",
)
