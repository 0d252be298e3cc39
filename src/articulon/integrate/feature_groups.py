"""Groups of features that the compatibility table often treats alike."""

NOISES = ("noise", "instantaneous noise", "noise without drag")
FACTORS = ("constant factors", "varying factors", "atomistic factors", "thermostat's factor", "following")
BATHS = ("nose-hoover", "rescaling", "langevin", "overdamping")
RANDOM_BATHS = ("rescaling", "langevin")
SPEED_BATHS = ("nose-hoover", *RANDOM_BATHS)
SPHERES = ("grains", "touching")
VOLUMES = ("tried volumes", "rescaled volumes")


SOLVER_NAMES = ("kane", "divide-and-conquer")
RESISTANCES = ("friction", "damped springs", "resisting drives", "other resistance")
OF_BODIES = (
    "loops",
    "drives",
    "swing joints",
    *RESISTANCES,
    "flexible",
    "armature",
    "fixman",
    "impacts",
    "velocity gradient",
    *NOISES,
)
"""Features that need bodies on joints, whatever else the model has."""
