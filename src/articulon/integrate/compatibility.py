"""What goes with what: one table of integrators and of the features that a run may have.

Whatever stands in neither ``CELLS`` nor ``CONFLICTS`` goes. A cell holds the reason why an integrator does not go with
a feature, a conflict the reason why features do not go with each other, whatever the integrator; ``refusals.py`` has
those of the cells. ``check`` raises what they say; ``validation/compatibility.py`` writes the tables of
``docs/multibody.md`` from them, and ``tests/cases/test_compatibility.py`` runs what goes and sees the refusal of what
does not.

What one body, loop, force or number prevents is refused where it is looked at, and stands nowhere here.
"""

from collections.abc import Iterator
from typing import NamedTuple

from articulon.errors import CaseError
from articulon.integrate.combination import FEATURES, Combination, integrator_of, other_resistances
from articulon.integrate.integrators import ErmakMcCammon
from articulon.integrate.refusals import (
    ADAPTIVE_CONTACTS,
    ADAPTIVE_PARTICLES,
    ADAPTIVE_SPEEDS,
    ADAPTIVE_STEPS,
    BETWEEN_IMPACTS,
    BROKEN_OFF,
    CANONICAL_BATH,
    CANONICAL_CONTACTS,
    CANONICAL_LOOPS,
    CANONICAL_SWINGS,
    DEVICE,
    DEVICE_BATH,
    DEVICE_FACTORS,
    DEVICE_VOLUMES,
    EQUAL_STEPS,
    FIXED_BOX,
    FLEXIBLE,
    FLOWING_VOLUMES,
    FOLLOWED_MAPS,
    IMPACTS_ALONE,
    IMPLICIT_CONTACTS,
    INSTANTANEOUS,
    INTERPOLATES,
    JUMPING_VOLUMES,
    LOOKING_BACK,
    LOOPS,
    NO_DRAG,
    NO_FORCE,
    NO_IMPACTS,
    NO_PLACE,
    NO_SPEEDS_TO_HIT,
    NOTHING_LAGS,
    NOTHING_RELAXES,
    NOTHING_TO_SOLVE,
    OTHER_RESISTANCE,
    OVERDAMPED_FRICTION,
    OVERDAMPED_MODES,
    OVERDAMPING,
    PARTICLES_ONLY,
    RATES,
    RATES_BATH,
    REFLECTED_SPHERES,
    REFLECTING,
    SCALED_VOLUMES,
    SLOWER_CONTACTS,
    SMOOTH_SPHERES,
    SOLVERS,
    SPEEDLESS_BATH,
    SPEEDLESS_CONTACTS,
    SPEEDLESS_VOLUMES,
    SPRUNG_VOLUMES,
    THERMOSTATS_FACTOR,
    TIED_VOLUMES,
    TOUCHING_BATH,
    TOUCHING_NOISE,
    TOUCHING_RATES,
    TOUCHING_SCALING,
    TOUCHING_VOLUMES,
    TRIED_CONTACTS,
    VARYING,
    WALLED_VOLUMES,
    WITHOUT_DRAG,
    Refusal,
    of_rule,
    without_noise,
)
from articulon.integrate.rules import EXPLICIT, PREDICTOR_CORRECTOR


class Needs(NamedTuple):
    """Why something does not go without another."""

    needs: str
    """A feature."""
    refusal: Refusal


NOISES = ("noise", "instantaneous noise", "noise without drag")
FACTORS = ("constant factors", "varying factors", "atomistic factors", "thermostat's factor", "following")
BATHS = ("nose-hoover", "rescaling", "langevin", "overdamping")
RANDOM_BATHS = ("rescaling", "langevin")
SPEED_BATHS = ("nose-hoover", *RANDOM_BATHS)
SPHERES = ("grains", "touching")
VOLUMES = ("tried volumes", "rescaled volumes")


def _all(features: tuple[str, ...], refusal: Refusal) -> dict[str, Refusal]:
    return dict.fromkeys(features, refusal)


_SOLVERS = ("kane", "divide-and-conquer")
_RESISTANCES = ("friction", "damped springs", "other resistance")
_OF_BODIES = (
    "loops",
    "drives",
    "swing joints",
    *_RESISTANCES,
    "flexible",
    "fixman",
    "impacts",
    "velocity gradient",
    *NOISES,
)
"""What makes a model one of bodies on joints, whatever else it holds."""

CELLS: dict[str, dict[str, Refusal]] = {
    "explicit": {
        **_all(RANDOM_BATHS, RATES_BATH),
        "overdamping": OVERDAMPING,
        **_all(SPHERES, TRIED_CONTACTS),
        "reflecting": REFLECTING,
    },
    "predictor-corrector": {
        **_all(RANDOM_BATHS, RATES_BATH),
        "overdamping": OVERDAMPING,
        "adaptive": ADAPTIVE_STEPS,
        **_all(SPHERES, TRIED_CONTACTS),
        "reflecting": REFLECTING,
        "euler-parameters": RATES,
        **_all(NOISES, without_noise(INTERPOLATES)),
        "following": LOOKING_BACK,
    },
    "scipy": {
        **_all(RANDOM_BATHS, RATES_BATH),
        "overdamping": OVERDAMPING,
        "adaptive": ADAPTIVE_STEPS,
        **_all(SPHERES, TRIED_CONTACTS),
        "reflecting": REFLECTING,
        "euler-parameters": RATES,
        **_all(NOISES, without_noise(INTERPOLATES)),
        "following": LOOKING_BACK,
        **_all(("varying factors", "thermostat's factor"), VARYING),
    },
    "canonical": {
        **_all(SPEED_BATHS, CANONICAL_BATH),
        "overdamping": OVERDAMPING,
        **_all(SPHERES, CANONICAL_CONTACTS),
        "reflecting": REFLECTING,
        "euler-parameters": RATES,
        **_all(("loops", "drives"), CANONICAL_LOOPS),
        "swing joints": CANONICAL_SWINGS,
        **_all(_SOLVERS, SOLVERS),
        "flexible": FLEXIBLE,
        **_all(NOISES, without_noise(NO_PLACE)),
        "following": FOLLOWED_MAPS,
    },
    "friction-implicit": {
        "overdamping": OVERDAMPING,
        **_all(SPHERES, IMPLICIT_CONTACTS),
        "reflecting": REFLECTING,
        "euler-parameters": RATES,
        "other resistance": OTHER_RESISTANCE,
        **_all(_SOLVERS, SOLVERS),
        "thermostat's factor": THERMOSTATS_FACTOR,
    },
    "overdamped": {
        **_all(BATHS, SPEEDLESS_BATH),
        "adaptive": ADAPTIVE_SPEEDS,
        "particles": NO_DRAG,
        **_all(SPHERES, SPEEDLESS_CONTACTS),
        "reflecting": REFLECTING,
        "euler-parameters": RATES,
        **_all(("loops", "drives"), LOOPS),
        **_all(_RESISTANCES, OVERDAMPED_FRICTION),
        **_all(_SOLVERS, SOLVERS),
        "flexible": OVERDAMPED_MODES,
        "instantaneous noise": INSTANTANEOUS,
        "noise without drag": WITHOUT_DRAG,
        "following": NOTHING_LAGS,
    },
    "particles": {
        "overdamping": OVERDAMPING,
        "adaptive": ADAPTIVE_PARTICLES,
        "euler-parameters": RATES,
        **_all(_SOLVERS, NOTHING_TO_SOLVE),
        "following": NOTHING_RELAXES,
    },
    "r-respa": {
        "overdamping": OVERDAMPING,
        "adaptive": ADAPTIVE_PARTICLES,
        **_all(SPHERES, SLOWER_CONTACTS),
        **_all(("bodies", *_OF_BODIES), PARTICLES_ONLY),
        "euler-parameters": RATES,
        **_all(_SOLVERS, NOTHING_TO_SOLVE),
        "following": NOTHING_RELAXES,
    },
    "ermak-mccammon": {
        **_all(SPEED_BATHS, OVERDAMPING),
        "adaptive": ADAPTIVE_PARTICLES,
        **_all(SPHERES, SPEEDLESS_CONTACTS),
        **_all(("bodies", *_OF_BODIES), PARTICLES_ONLY),
        "euler-parameters": RATES,
        **_all(_SOLVERS, NOTHING_TO_SOLVE),
        **_all(FACTORS, NO_FORCE),
    },
    "grains": {
        **_all(BATHS, TOUCHING_BATH),
        "adaptive": ADAPTIVE_CONTACTS,
        "reflecting": REFLECTED_SPHERES,
        "euler-parameters": TOUCHING_RATES,
        **_all(_SOLVERS, NOTHING_TO_SOLVE),
        **_all(FACTORS, TOUCHING_SCALING),
    },
    "touching": {
        **_all(BATHS, TOUCHING_BATH),
        "adaptive": ADAPTIVE_CONTACTS,
        "reflecting": REFLECTED_SPHERES,
        "euler-parameters": TOUCHING_RATES,
        **_all(NOISES, TOUCHING_NOISE),
        **_all(FACTORS, TOUCHING_SCALING),
    },
    "event-driven": {
        **_all(BATHS, BETWEEN_IMPACTS),
        "adaptive": ADAPTIVE_PARTICLES,
        **_all(("bodies", "particles", *SPHERES), SMOOTH_SPHERES),
        **{name: SMOOTH_SPHERES for name in _OF_BODIES if name != "impacts"},
        "euler-parameters": RATES,
        **_all(_SOLVERS, NOTHING_TO_SOLVE),
        **_all(FACTORS, IMPACTS_ALONE),
        **_all(VOLUMES, FIXED_BOX),
    },
}
"""Why an integrator does not go with a feature, by the names of both."""
CELLS["flights"] = {**CELLS["friction-implicit"], "flexible": FLEXIBLE}
for _name, _cells in CELLS.items():
    if _name != "particles":
        _cells["device"] = DEVICE
    if _name in ("predictor-corrector", "scipy"):
        _cells.update(_all(("hard spheres", "impacts"), BROKEN_OFF))
    elif _name in ("overdamped", "ermak-mccammon"):
        _cells.update(_all(("hard spheres", "impacts"), NO_SPEEDS_TO_HIT))
    elif _name in ("canonical", "friction-implicit", "flights", "particles", "r-respa", "grains", "touching"):
        _cells.update(_all(("hard spheres", "impacts"), EQUAL_STEPS))
    if _name in ("explicit", "predictor-corrector", "scipy", "canonical"):
        _cells.update(_all(VOLUMES, JUMPING_VOLUMES))
    elif _name in ("overdamped", "ermak-mccammon"):
        _cells["rescaled volumes"] = SPEEDLESS_VOLUMES
    elif _name in SPHERES:
        _cells.update(_all(VOLUMES, TOUCHING_VOLUMES))

ELSEWHERE: dict[str, tuple[str, ...]] = {
    "particles": ("bodies", "hard spheres", *SPHERES, *_OF_BODIES),
    "grains": ("bodies", "particles", "hard spheres", "touching", *_OF_BODIES),
    "touching": ("bodies", "particles", "hard spheres", "grains"),
}
"""Features with which the same rule is another integrator of the table."""


def _each(features: tuple[str, ...], other: str, refusal: Refusal) -> dict[tuple[str, ...], Refusal]:
    return {(one, other): refusal for one in features}


CONFLICTS: dict[tuple[str, ...], Refusal] = {
    ("euler-parameters", "flexible"): Refusal(
        "dynamics.rotations", "'euler-parameters' takes rigid bodies only", "use 'speeds'", ", and {body} is flexible"
    ),
    **_each(
        ("varying factors", "thermostat's factor", "following"),
        "flexible",
        Refusal(
            "scaling",
            "a policy of factors that vary weighs the sizes of forces, and the size of what acts on a mode depends on "
            "how its shape is scaled",
            "choose a policy of constant factors",
            ", and {body} is flexible",
        ),
    ),
    ("fixman", "flexible"): Refusal(
        "forces",
        "the Fixman potential is known of rigid bodies only",
        "leave one of them out",
        ", and {body} is flexible",
    ),
    **_each(
        ("loops", "drives"),
        "fixman",
        Refusal(
            "forces",
            "Fixman's potential is that of coordinates that move freely",
            "leave out the loops and drives, or this force",
            ", and {loop} binds them",
            elsewhere=True,
        ),
    ),
    **_each(
        ("nose-hoover", "rescaling"),
        "drives",
        Refusal(
            "thermostat",
            "a joint that follows a given motion has a kinetic energy that is no temperature",
            "leave out the thermostat or the drive",
            ", and the joint '{driven}' follows a given motion",
        ),
    ),
    **{(bath, factor): NO_FORCE for bath in RANDOM_BATHS for factor in FACTORS},
    **_each(("nose-hoover", "rescaling"), "device", DEVICE_BATH),
    **_each(("varying factors", "thermostat's factor"), "device", DEVICE_FACTORS),
    **_each(VOLUMES, "device", DEVICE_VOLUMES),
    **_each(VOLUMES, "drives", TIED_VOLUMES),
    **_each(VOLUMES, "reflecting", WALLED_VOLUMES),
    ("damped springs", "rescaled volumes"): SPRUNG_VOLUMES,
    **_each(VOLUMES, "velocity gradient", FLOWING_VOLUMES),
    **{(volume, factor): SCALED_VOLUMES for volume in VOLUMES for factor in FACTORS},
    ("adaptive", "particles"): ADAPTIVE_PARTICLES,
    ("adaptive", "euler-parameters"): Refusal(
        "adaptive", "with rotations = 'euler-parameters' there are no speeds that could be locked", "use 'speeds'"
    ),
    ("adaptive", "swing joints"): Refusal(
        "adaptive",
        "rods that are locked to each other could spin as one, and a swing joint lets nothing spin",
        "join the rods by spherical joints, with an inertia, or leave out [adaptive]",
    ),
    ("euler-parameters", "swing joints"): Refusal(
        "dynamics.rotations",
        "'euler-parameters' integrates the spin that a swing joint leaves out",
        "use 'speeds'",
    ),
    ("adaptive", "following"): Refusal(
        "adaptive",
        "{policy} follows how forces change, which a transition breaks off",
        "choose another",
    ),
    **_each(
        ("particles", "noise without drag"),
        "following",
        Refusal(
            "scaling.policy",
            "{policy} bounds the lag of bodies by their relaxation times m/β, and there is no drag",
            "add stokes-drag, or choose another policy",
            elsewhere=True,
        ),
    ),
    ("velocity gradient", "following"): Refusal(
        "scaling.policy",
        "{policy} takes the flow for uniform, and this one has a velocity gradient",
        "choose another policy, such as constant",
    ),
    **_each(
        SPEED_BATHS,
        "velocity gradient",
        Refusal(
            "thermostat",
            "{thermostat} would take speeds of bodies that follow the flow for heat, which differ from place to place",
            "leave out the thermostat, and add the forces brownian",
        ),
    ),
    ("velocity gradient", "instantaneous noise"): Refusal(
        "forces.brownian.amplitude_from",
        "'instantaneous' would take speeds of bodies that follow the flow for heat, which differ from place to place",
        "set it to 'bath'",
    ),
    ("euler-parameters", "impacts"): Refusal(
        "dynamics.rotations",
        "'euler-parameters' integrates rates of coordinates, and an impact changes speeds",
        "use 'speeds'",
    ),
    ("flexible", "impacts"): Refusal(
        "forces",
        "impacts are worked out for rigid bodies, and the waves that one sends through a flexible body take time",
        "leave out the impacts, or make the bodies rigid",
        ", and {body} is flexible",
    ),
    ("adaptive", "impacts"): Refusal(
        "adaptive",
        "impacts are resolved between bodies as they move, and merged bodies would not know their spheres and stops",
        "leave out the impacts, or [adaptive]",
    ),
    **_each(
        FACTORS,
        "impacts",
        Refusal(
            "scaling",
            "scaled forces throw bodies at each other with other speeds, and an impact lasts no time that could be "
            "scaled with them",
            "leave the scaling policy out",
        ),
    ),
    **_each(
        (*SPEED_BATHS, "noise"),
        "impacts",
        Refusal(
            "forces",
            "impacts take energy that no noise gives back: what keeps the bodies warm would keep no temperature",
            "leave out the thermostat or the noise, or the impacts",
        ),
    ),
    ("drives", "following"): Refusal(
        "scaling.policy",
        "{policy} follows the forces on bodies, and a drive, or a loop between trees or to the ground, binds them by "
        "forces of its own",
        "choose another policy, such as constant",
        elsewhere=True,
    ),
    ("following", "euler-parameters", "noise"): Refusal(
        "scaling.policy",
        "{policy} keeps the momentum of thermal speeds when its factor changes, and dynamics.rotations = "
        "'euler-parameters' integrates other rates",
        "choose rotations = 'speeds'",
    ),
    **_each(
        _SOLVERS,
        "euler-parameters",
        Refusal(
            "dynamics.rotations",
            "'euler-parameters' goes with the solver 'articulated'",
            "choose it, or rotations = 'speeds'",
            elsewhere=True,
        ),
    ),
}
"""Why features do not go with each other, whatever the integrator."""

NEEDS: dict[str, Needs] = {
    "ermak-mccammon": Needs(
        "overdamping", of_rule("needs a thermostat of the kind overdamped", "add [thermostat], or choose another rule")
    ),
    "event-driven": Needs("impacts", NO_IMPACTS),
    **dict.fromkeys(
        ("atomistic factors", "thermostat's factor"),
        Needs(
            "nose-hoover",
            Refusal(
                "scaling.policy",
                "{policy} scales the force of a thermostat of Nosé and Hoover",
                "add [thermostat] with the kind modified-nose-hoover, or choose another policy",
                ", and {instead_of_it}",
            ),
        ),
    ),
}
"""What an integrator, or a feature, does not go without."""


def cell(integrator: str, feature: str) -> Refusal | None:
    """Why an integrator does not go with a feature, or with what that needs; None where it does."""
    found = CELLS[integrator].get(feature)
    if found is None and feature in NEEDS:
        return cell(integrator, NEEDS[feature].needs)
    return found


def refusals(c: Combination) -> Iterator[Refusal]:
    """All that the table has against a combination."""
    integrator = integrator_of(c)
    present = [name for name, feature in FEATURES.items() if feature.has(c)]
    for name in (*present, integrator):
        if name in NEEDS and NEEDS[name].needs not in present and (name in FEATURES or c.thermostat is None):
            yield NEEDS[name].refusal
    for name in present:
        refusal = cell(integrator, name)
        if refusal is not None:
            yield refusal
    for names, refusal in CONFLICTS.items():
        if not refusal.elsewhere and set(names) <= set(present):
            yield refusal


def check(c: Combination) -> None:
    """Raises CaseError, naming the key and what to do, for what does not go together."""
    refusal = next(refusals(c), None)
    if refusal is not None:
        raise CaseError(refusal.message(words_of(c)))


def words_of(c: Combination) -> dict[str, str]:
    """What the texts of refusals may name."""
    model, kind = c.model, str(getattr(c.thermostat, "kind", ""))
    explicit = ", ".join(EXPLICIT)
    carrying = "'friction-implicit', or 'velocity-verlet' for a model of free particles"
    if c.thermostat is not None and c.thermostat.deterministic:
        carrying += f", or one of {explicit}"
    return {
        "rule": f"'{c.integrator.rule}'",
        "thermostat": f"'{kind}'",
        "instead_of_it": "there is none" if c.thermostat is None else f"it is '{kind}'",
        "policy": f"'{getattr(c.policy, 'policy', '')}'",
        "solver": f"the solver '{c.solver}'",
        "body": f"body '{model.names[next(iter(model.modes))]}'" if model.modes else "a body",
        "loop": model.loop_name(0) if model.loops.kind.size else "a loop",
        "driven": model.drives[0].name if model.drives else "",
        "resisting": ", ".join(f"'{kind}'" for kind in other_resistances(c)),
        "explicit": explicit,
        "stepping": ", ".join([*EXPLICIT, *PREDICTOR_CORRECTOR]),
        "of_bodies": "friction-implicit" if isinstance(c.integrator, ErmakMcCammon) else "velocity-verlet",
        "carrying": carrying,
    }
