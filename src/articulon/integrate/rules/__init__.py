"""One integration formula a file."""

from articulon.integrate.rules.adams_bashforth_moulton import ADAMS_BASHFORTH_MOULTON
from articulon.integrate.rules.dormand_prince import DORMAND_PRINCE
from articulon.integrate.rules.euler import EULER
from articulon.integrate.rules.implicit_midpoint import IMPLICIT_MIDPOINT
from articulon.integrate.rules.kutta_merson import KUTTA_MERSON
from articulon.integrate.rules.lobatto_iiia_iiib_2 import LOBATTO_IIIA_IIIB_2
from articulon.integrate.rules.lobatto_iiia_iiib_3 import LOBATTO_IIIA_IIIB_3
from articulon.integrate.rules.rk4 import RK4
from articulon.integrate.rules.runge_kutta_fehlberg import RUNGE_KUTTA_FEHLBERG
from articulon.integrate.rules.velocity_verlet import VELOCITY_VERLET
from articulon.integrate.rules.verlet import VERLET

EXPLICIT = {
    "kutta-merson": KUTTA_MERSON,
    "runge-kutta-fehlberg": RUNGE_KUTTA_FEHLBERG,
    "dormand-prince": DORMAND_PRINCE,
    "rk4": RK4,
    "euler": EULER,
}
"""Explicit Runge–Kutta formulas by name."""

PREDICTOR_CORRECTOR = {"adams-bashforth-moulton": ADAMS_BASHFORTH_MOULTON}
"""Linear multistep formulas by name."""

CANONICAL = {
    "verlet": VERLET,
    "velocity-verlet": VELOCITY_VERLET,
    "lobatto-iiia-iiib-2": LOBATTO_IIIA_IIIB_2,
    "lobatto-iiia-iiib-3": LOBATTO_IIIA_IIIB_3,
    "implicit-midpoint": IMPLICIT_MIDPOINT,
}
"""Partitioned Runge–Kutta formulas in canonical momenta by name."""
