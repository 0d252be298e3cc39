"""Reasons why integrators exclude features: the cells of the compatibility table."""

from articulon.integrate.feature_groups import (
    BATHS,
    FACTORS,
    NOISES,
    OF_BODIES,
    RANDOM_BATHS,
    RESISTANCES,
    SOLVER_NAMES,
    SPEED_BATHS,
    SPHERES,
    VOLUMES,
)
from articulon.integrate.refusals import (
    ADAPTIVE_CONTACTS,
    ADAPTIVE_PARTICLES,
    ADAPTIVE_SPEEDS,
    ADAPTIVE_STEPS,
    ARMATURES,
    BETWEEN_IMPACTS,
    BROKEN_OFF,
    CANONICAL_BATH,
    CANONICAL_CONTACTS,
    CANONICAL_LOOPS,
    CANONICAL_SWINGS,
    DEVICE,
    FIXED_BOX,
    FLEXIBLE,
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
    SHADOWED_IMPACTS,
    SLOWER_CONTACTS,
    SMOOTH_SPHERES,
    SOLVERS,
    SPEEDLESS_BATH,
    SPEEDLESS_CONTACTS,
    SPEEDLESS_VOLUMES,
    THERMOSTATS_FACTOR,
    TOUCHING_BATH,
    TOUCHING_IMPACTS,
    TOUCHING_NOISE,
    TOUCHING_RATES,
    TOUCHING_SCALING,
    TOUCHING_VOLUMES,
    TRIED_CONTACTS,
    VARYING,
    WITHOUT_DRAG,
    Refusal,
    without_noise,
)


def of_all(features: tuple[str, ...], refusal: Refusal) -> dict[str, Refusal]:
    return dict.fromkeys(features, refusal)


CELLS: dict[str, dict[str, Refusal]] = {
    "explicit": {
        **of_all(RANDOM_BATHS, RATES_BATH),
        "overdamping": OVERDAMPING,
        **of_all(SPHERES, TRIED_CONTACTS),
        "reflecting": REFLECTING,
    },
    "predictor-corrector": {
        **of_all(RANDOM_BATHS, RATES_BATH),
        "overdamping": OVERDAMPING,
        "adaptive": ADAPTIVE_STEPS,
        **of_all(SPHERES, TRIED_CONTACTS),
        "reflecting": REFLECTING,
        "euler-parameters": RATES,
        **of_all(NOISES, without_noise(INTERPOLATES)),
        "following": LOOKING_BACK,
    },
    "scipy": {
        **of_all(RANDOM_BATHS, RATES_BATH),
        "overdamping": OVERDAMPING,
        "adaptive": ADAPTIVE_STEPS,
        **of_all(SPHERES, TRIED_CONTACTS),
        "reflecting": REFLECTING,
        "euler-parameters": RATES,
        **of_all(NOISES, without_noise(INTERPOLATES)),
        "following": LOOKING_BACK,
        **of_all(("varying factors", "thermostat's factor"), VARYING),
    },
    "canonical": {
        **of_all(SPEED_BATHS, CANONICAL_BATH),
        "overdamping": OVERDAMPING,
        **of_all(SPHERES, CANONICAL_CONTACTS),
        "reflecting": REFLECTING,
        "euler-parameters": RATES,
        **of_all(("loops", "drives"), CANONICAL_LOOPS),
        "swing joints": CANONICAL_SWINGS,
        **of_all(SOLVER_NAMES, SOLVERS),
        "flexible": FLEXIBLE,
        **of_all(NOISES, without_noise(NO_PLACE)),
        "following": FOLLOWED_MAPS,
    },
    "friction-implicit": {
        "overdamping": OVERDAMPING,
        **of_all(SPHERES, IMPLICIT_CONTACTS),
        "reflecting": REFLECTING,
        "euler-parameters": RATES,
        "other resistance": OTHER_RESISTANCE,
        **of_all(SOLVER_NAMES, SOLVERS),
        "thermostat's factor": THERMOSTATS_FACTOR,
    },
    "overdamped": {
        **of_all(BATHS, SPEEDLESS_BATH),
        "adaptive": ADAPTIVE_SPEEDS,
        "particles": NO_DRAG,
        **of_all(SPHERES, SPEEDLESS_CONTACTS),
        "reflecting": REFLECTING,
        "euler-parameters": RATES,
        **of_all(("loops", "drives"), LOOPS),
        **of_all(RESISTANCES, OVERDAMPED_FRICTION),
        **of_all(SOLVER_NAMES, SOLVERS),
        "flexible": OVERDAMPED_MODES,
        "instantaneous noise": INSTANTANEOUS,
        "noise without drag": WITHOUT_DRAG,
        "following": NOTHING_LAGS,
    },
    "particles": {
        "overdamping": OVERDAMPING,
        "adaptive": ADAPTIVE_PARTICLES,
        "euler-parameters": RATES,
        **of_all(SOLVER_NAMES, NOTHING_TO_SOLVE),
        "following": NOTHING_RELAXES,
    },
    "r-respa": {
        "overdamping": OVERDAMPING,
        "adaptive": ADAPTIVE_PARTICLES,
        **of_all(SPHERES, SLOWER_CONTACTS),
        **of_all(("bodies", *OF_BODIES), PARTICLES_ONLY),
        "euler-parameters": RATES,
        **of_all(SOLVER_NAMES, NOTHING_TO_SOLVE),
        "following": NOTHING_RELAXES,
    },
    "ermak-mccammon": {
        **of_all(SPEED_BATHS, OVERDAMPING),
        "adaptive": ADAPTIVE_PARTICLES,
        **of_all(SPHERES, SPEEDLESS_CONTACTS),
        **of_all(("bodies", *OF_BODIES), PARTICLES_ONLY),
        "euler-parameters": RATES,
        **of_all(SOLVER_NAMES, NOTHING_TO_SOLVE),
        **of_all(FACTORS, NO_FORCE),
    },
    "grains": {
        **of_all(BATHS, TOUCHING_BATH),
        "adaptive": ADAPTIVE_CONTACTS,
        "reflecting": REFLECTED_SPHERES,
        "euler-parameters": TOUCHING_RATES,
        **of_all(SOLVER_NAMES, NOTHING_TO_SOLVE),
        **of_all(FACTORS, TOUCHING_SCALING),
    },
    "touching": {
        **of_all(BATHS, TOUCHING_BATH),
        "adaptive": ADAPTIVE_CONTACTS,
        "reflecting": REFLECTED_SPHERES,
        "euler-parameters": TOUCHING_RATES,
        **of_all(NOISES, TOUCHING_NOISE),
        **of_all(FACTORS, TOUCHING_SCALING),
    },
    "event-driven": {
        **of_all(BATHS, BETWEEN_IMPACTS),
        "adaptive": ADAPTIVE_PARTICLES,
        **of_all(("bodies", "particles", *SPHERES), SMOOTH_SPHERES),
        **{name: SMOOTH_SPHERES for name in OF_BODIES if name != "impacts"},
        "euler-parameters": RATES,
        **of_all(SOLVER_NAMES, NOTHING_TO_SOLVE),
        **of_all(FACTORS, IMPACTS_ALONE),
        **of_all(VOLUMES, FIXED_BOX),
    },
}
"""Reasons why an integrator excludes a feature, by the names of both."""
CELLS["flights"] = {**CELLS["friction-implicit"], "flexible": FLEXIBLE}
for _name, _cells in CELLS.items():
    if _name != "particles":
        _cells["device"] = DEVICE
    if _name in ("canonical", "flights", "touching"):
        _cells["armature"] = ARMATURES
    if _name in ("predictor-corrector", "scipy"):
        _cells.update(of_all(("hard spheres", "impacts"), BROKEN_OFF))
    elif _name in ("overdamped", "ermak-mccammon"):
        _cells.update(of_all(("hard spheres", "impacts"), NO_SPEEDS_TO_HIT))
    elif _name in ("canonical", "flights", "particles", "r-respa"):
        _cells.update(of_all(("hard spheres", "impacts"), SHADOWED_IMPACTS))
    elif _name in SPHERES:
        _cells.update(of_all(("hard spheres", "impacts"), TOUCHING_IMPACTS))
    if _name in ("explicit", "predictor-corrector", "scipy", "canonical"):
        _cells.update(of_all(VOLUMES, JUMPING_VOLUMES))
    elif _name in ("overdamped", "ermak-mccammon"):
        _cells["rescaled volumes"] = SPEEDLESS_VOLUMES
    elif _name in SPHERES:
        _cells.update(of_all(VOLUMES, TOUCHING_VOLUMES))

ELSEWHERE: dict[str, tuple[str, ...]] = {
    "particles": ("bodies", "hard spheres", *SPHERES, *OF_BODIES),
    "grains": ("bodies", "particles", "hard spheres", "touching", *OF_BODIES),
    "touching": ("bodies", "particles", "hard spheres", "grains"),
}
"""Features by integrator. A run with one of these features and the same ``rule`` belongs to another integrator of the
table."""
