"""Pairs and groups of features that exclude each other with any integrator, and why."""

from articulon.integrate.feature_groups import FACTORS, RANDOM_BATHS, SOLVER_NAMES, SPEED_BATHS, VOLUMES
from articulon.integrate.refusals import (
    ADAPTIVE_PARTICLES,
    DEVICE_BATH,
    DEVICE_FACTORS,
    DEVICE_VOLUMES,
    FLOWING_VOLUMES,
    NO_FORCE,
    SCALED_VOLUMES,
    SPRUNG_VOLUMES,
    TIED_VOLUMES,
    WALLED_VOLUMES,
    Refusal,
)


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
    ("flexible", "armature"): Refusal(
        "model",
        "armatures are known of joints of rigid bodies only",
        "leave out the armatures, or make the bodies rigid",
        ", and {body} is flexible",
        elsewhere=True,
    ),
    **_each(
        ("fixman", "instantaneous noise", "following"),
        "armature",
        Refusal(
            "forces",
            "it reads the inertia and the speeds of links alone, and armatures belong to none",
            "leave out the armatures, or what reads these",
        ),
    ),
    ("adaptive", "armature"): Refusal(
        "adaptive",
        "the speeds of merged bodies are found by the inertia of links, and armatures belong to none",
        "leave out the armatures, or [adaptive]",
    ),
    ("euler-parameters", "armature"): Refusal(
        "dynamics.rotations",
        "'euler-parameters' integrates rates of coordinates, and armatures belong to speeds",
        "use 'speeds'",
    ),
    ("divide-and-conquer", "armature"): Refusal(
        "dynamics.solver",
        "'divide-and-conquer' joins parts of a tree by the inertia of links alone, and armatures belong to none",
        "choose 'articulated' or 'kane'",
    ),
    ("device", "armature"): Refusal(
        "run.device", "what runs there knows no armatures", "leave it out, or the armatures"
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
    **_each(
        VOLUMES,
        "impacts",
        Refusal(
            "barostat",
            "a smaller box lets spheres overlap, and impacts know no overlap",
            "leave out [barostat], or the impacts",
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
        SOLVER_NAMES,
        "euler-parameters",
        Refusal(
            "dynamics.rotations",
            "'euler-parameters' goes with the solver 'articulated'",
            "choose it, or rotations = 'speeds'",
            elsewhere=True,
        ),
    ),
}
"""Reasons why features exclude each other with any integrator."""
