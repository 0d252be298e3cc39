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
        "dynamics.rotations",
        "'euler-parameters' supports rigid bodies only",
        "use 'speeds'",
        ", and {body} is flexible",
    ),
    **_each(
        ("varying factors", "thermostat's factor", "following"),
        "flexible",
        Refusal(
            "scaling",
            "a policy of varying factors compares the sizes of forces, and the size of a force on a mode depends on "
            "how its shape is scaled",
            "choose a policy of constant factors",
            ", and {body} is flexible",
        ),
    ),
    ("fixman", "flexible"): Refusal(
        "forces",
        "Fixman's potential is available for rigid bodies only",
        "leave one of them out",
        ", and {body} is flexible",
    ),
    **_each(
        ("loops", "drives"),
        "fixman",
        Refusal(
            "forces",
            "Fixman's potential holds for coordinates that move freely",
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
            "the kinetic energy of a joint that follows a given motion is not thermal",
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
        "rods that are locked to each other could spin together as one body, and a swing joint excludes spin",
        "join the rods by spherical joints, with an inertia, or leave out [adaptive]",
    ),
    ("euler-parameters", "swing joints"): Refusal(
        "dynamics.rotations",
        "'euler-parameters' integrates the spin that a swing joint excludes",
        "use 'speeds'",
    ),
    ("adaptive", "following"): Refusal(
        "adaptive",
        "{policy} follows how forces change, and a transition changes them abruptly",
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
        "{policy} assumes a uniform flow, and this one has a velocity gradient",
        "choose another policy, such as constant",
    ),
    **_each(
        SPEED_BATHS,
        "velocity gradient",
        Refusal(
            "thermostat",
            "{thermostat} would take the speeds of bodies in the flow, which differ from place to place, for thermal "
            "motion",
            "leave out the thermostat, and add the forces brownian",
        ),
    ),
    ("velocity gradient", "instantaneous noise"): Refusal(
        "forces.brownian.amplitude_from",
        "'instantaneous' would take the speeds of bodies in the flow, which differ from place to place, for thermal "
        "motion",
        "set it to 'bath'",
    ),
    ("euler-parameters", "impacts"): Refusal(
        "dynamics.rotations",
        "'euler-parameters' integrates rates of coordinates, and an impact changes speeds",
        "use 'speeds'",
    ),
    ("flexible", "impacts"): Refusal(
        "forces",
        "an impact is instantaneous, but the waves that it causes in a flexible body take time",
        "leave out the impacts, or make the bodies rigid",
        ", and {body} is flexible",
    ),
    ("flexible", "armature"): Refusal(
        "model",
        "armatures are available for the joints of rigid bodies only",
        "leave out the armatures, or make the bodies rigid",
        ", and {body} is flexible",
        elsewhere=True,
    ),
    **_each(
        ("fixman", "instantaneous noise", "following"),
        "armature",
        Refusal(
            "forces",
            "this feature uses only the inertia and the speeds of links, so it would leave out the armatures",
            "leave out the armatures, or this feature",
        ),
    ),
    ("adaptive", "armature"): Refusal(
        "adaptive",
        "the speeds of merged bodies follow from the inertia of links, which leaves out armatures",
        "leave out the armatures, or [adaptive]",
    ),
    ("euler-parameters", "armature"): Refusal(
        "dynamics.rotations",
        "'euler-parameters' integrates rates of coordinates, and armatures belong to speeds",
        "use 'speeds'",
    ),
    ("divide-and-conquer", "armature"): Refusal(
        "dynamics.solver",
        "'divide-and-conquer' joins parts of a tree by the inertia of links alone, which leaves out armatures",
        "choose 'articulated' or 'kane'",
    ),
    ("device", "armature"): Refusal(
        "run.device", "the code for devices does not support armatures", "leave out run.device, or the armatures"
    ),
    ("adaptive", "impacts"): Refusal(
        "adaptive",
        "impacts act between separate bodies, and a body that results from merging has no spheres and no stops",
        "leave out the impacts, or [adaptive]",
    ),
    **_each(
        FACTORS,
        "impacts",
        Refusal(
            "scaling",
            "scaled forces change the speeds at which bodies meet, and an impact has no duration that could be scaled "
            "with them",
            "leave the scaling policy out",
        ),
    ),
    **_each(
        (*SPEED_BATHS, "noise"),
        "impacts",
        Refusal(
            "forces",
            "impacts dissipate energy that no noise returns: no temperature would be kept",
            "leave out the thermostat or the noise, or the impacts",
        ),
    ),
    **_each(
        VOLUMES,
        "impacts",
        Refusal(
            "barostat",
            "spheres overlap in a smaller box, and impacts do not allow overlaps",
            "leave out [barostat], or the impacts",
        ),
    ),
    ("drives", "following"): Refusal(
        "scaling.policy",
        "{policy} follows the forces on bodies, without the constraint forces of drives and of loops between trees or "
        "to the ground",
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
