"""Andrews' squeezing mechanism: the parameters, the initial vector and the solution of the IVP test set.

Seven bodies in a plane, K1 to K7, on revolute joints about z: a motor at O drives the crank K1; K2 leads from the
crank to the point E, where K3 (the triangle on a spring, pivoted at B), K4 (on K5, pivoted at A) and K6 (on K7, pivoted
at A) end too. No gravity. Sources: F. Mazzia and C. Magherini, Test Set for Initial Value Problem Solvers, release
2.4 (2008), problem "Andrews' squeezing mechanism"; E. Hairer and G. Wanner, Solving Ordinary Differential Equations II
(1996), section VII.7, whose names are used here. SI units.

Two ways to the same mechanism: ``MEMBERS``, ``CLOSURES`` and the rest describe it as bodies and joints; ``rates`` is
the test set's own explicit equations, differentiated twice, from which no engine takes anything.
"""

from __future__ import annotations

import dataclasses

import numpy as np

M1, M2, M3, M4, M5, M6, M7 = 0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498
I1, I2, I3, I4, I5, I6, I7 = 2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5
XA, YA = -0.06934, -0.00227
XB, YB = -0.03635, 0.03273
XC, YC = 0.014, 0.072
D, DA = 0.028, 0.0115
E, EA = 0.02, 0.01421
RR, RA = 0.007, 0.00092
SS, SA, SB, SC, SD = 0.035, 0.01874, 0.01043, 0.018, 0.02
TA, TB = 0.02308, 0.00916
U, UA, UB = 0.04, 0.01228, 0.00449
ZF, ZT, FA = 0.02, 0.04, 0.01421
SPRING_CONSTANT, SPRING_LENGTH = 4530.0, 0.07785
MOTOR_TORQUE = 0.033
"""Of the motor on K1, about z, constant."""

ANGLES = ("beta", "theta", "gamma", "phi", "delta", "omega", "epsilon")
"""The order of the published vector. At rest initially."""
INITIAL_ANGLES = np.array(
    [
        -0.0617138900142764496358948458001,
        0.0,
        0.455279819163070380255912382449,
        0.222668390165885884674473185609,
        0.487364979543842550225598953530,
        -0.222668390165885884674473185609,
        1.23054744454982119249735015568,
    ]
)
INITIAL_ACCELERATIONS = np.array([14222.4439199541138705911625887, -10666.8329399655854029433719415, 0, 0, 0, 0, 0])
END = 0.03
REFERENCE_ANGLES = np.array(
    [
        15.81077119629904,
        -15.75637105984298,
        0.04082224013073101,
        -0.5347301163226948,
        0.5244099658805304,
        0.5347301163226948,
        1.048080741042263,
    ]
)
"""At ``END``, computed by the test set's authors with a tolerance of 1e-14.

Solutions of ``rates`` converge to within 1.1e-9 of the first angle, 1.4e-9 of the second and 2e-11 of the others.
"""


@dataclasses.dataclass(frozen=True)
class Member:
    """A body, turned by its angle about z relative to the body (or ground) that carries its pivot."""

    name: str
    angle: str
    parent: str | None
    pivot: tuple[float, float]
    """In the parent's frame."""
    mass: float
    com: tuple[float, float]
    inertia: float
    """About the centre of mass, about z."""
    end: tuple[float, float]
    """The far end in the body's frame: the next pivot, or E."""


# The com of K3, K5 and K7 enters only by its distance from their fixed pivots: signs are those of the figure.
MEMBERS = (
    Member("K1", "beta", None, (0.0, 0.0), M1, (RA, 0.0), I1, (RR, 0.0)),
    Member("K2", "theta", "K1", (RR, 0.0), M2, (-DA, 0.0), I2, (-D, 0.0)),
    Member("K3", "gamma", None, (XB, YB), M3, (SB, -SA), I3, (0.0, -SS)),
    Member("K5", "delta", None, (XA, YA), M5, (TA, TB), I5, (ZT, 0.0)),
    Member("K4", "phi", "K5", (ZT, 0.0), M4, (0.0, EA - E), I4, (0.0, -E)),
    Member("K7", "epsilon", None, (XA, YA), M7, (-UB, -UA), I7, (0.0, -U)),
    Member("K6", "omega", "K7", (0.0, -U), M6, (ZF - FA, 0.0), I6, (ZF, 0.0)),
)
CLOSURES = (("K2", "K3"), ("K2", "K4"), ("K2", "K6"))
"""Pairs of bodies whose ends meet at E, free to turn about z."""
SPRING_ON_K3, SPRING_ON_GROUND = (SD, -SC), (XC, YC)


def mass_matrix(q: np.ndarray) -> np.ndarray:
    """M of the seven angles."""
    _, th, _, ph, _, om, _ = q
    M = np.zeros((7, 7))
    M[0, 0] = M1 * RA**2 + M2 * (RR**2 - 2 * DA * RR * np.cos(th) + DA**2) + I1 + I2
    M[0, 1] = M[1, 0] = M2 * (DA**2 - DA * RR * np.cos(th)) + I2
    M[1, 1] = M2 * DA**2 + I2
    M[2, 2] = M3 * (SA**2 + SB**2) + I3
    M[3, 3] = M4 * (E - EA) ** 2 + I4
    M[3, 4] = M[4, 3] = M4 * ((E - EA) ** 2 + ZT * (E - EA) * np.sin(ph)) + I4
    M[4, 4] = M4 * (ZT**2 + 2 * ZT * (E - EA) * np.sin(ph) + (E - EA) ** 2) + M5 * (TA**2 + TB**2) + I4 + I5
    M[5, 5] = M6 * (ZF - FA) ** 2 + I6
    M[5, 6] = M[6, 5] = M6 * ((ZF - FA) ** 2 - U * (ZF - FA) * np.sin(om)) + I6
    M[6, 6] = M6 * ((ZF - FA) ** 2 - 2 * U * (ZF - FA) * np.sin(om) + U**2) + M7 * (UA**2 + UB**2) + I6 + I7
    return M


def forces(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Generalised forces of motor and spring, and the terms in the speeds."""
    _, th, ga, ph, _, om, _ = q
    bev, thv, _, phv, dev, omv, epv = v
    x = SD * np.cos(ga) + SC * np.sin(ga) + XB - XC
    y = SD * np.sin(ga) - SC * np.cos(ga) + YB - YC
    length = np.hypot(x, y)
    pull = -SPRING_CONSTANT * (length - SPRING_LENGTH) / length
    return np.array(
        [
            MOTOR_TORQUE - M2 * DA * RR * thv * (thv + 2 * bev) * np.sin(th),
            M2 * DA * RR * bev**2 * np.sin(th),
            pull * (x * (SC * np.cos(ga) - SD * np.sin(ga)) + y * (SD * np.cos(ga) + SC * np.sin(ga))),
            M4 * ZT * (E - EA) * dev**2 * np.cos(ph),
            -M4 * ZT * (E - EA) * phv * (phv + 2 * dev) * np.cos(ph),
            -M6 * U * (ZF - FA) * epv**2 * np.cos(om),
            M6 * U * (ZF - FA) * omv * (omv + 2 * epv) * np.cos(om),
        ]
    )


def closure(q: np.ndarray) -> np.ndarray:
    """The six constraints g(q): E as the end of K2, less E as the end of K3, K4, K6."""
    be, th, ga, ph, de, om, ep = q
    x = RR * np.cos(be) - D * np.cos(be + th)
    y = RR * np.sin(be) - D * np.sin(be + th)
    return np.array(
        [
            x - SS * np.sin(ga) - XB,
            y + SS * np.cos(ga) - YB,
            x - E * np.sin(ph + de) - ZT * np.cos(de) - XA,
            y + E * np.cos(ph + de) - ZT * np.sin(de) - YA,
            x - ZF * np.cos(om + ep) - U * np.sin(ep) - XA,
            y - ZF * np.sin(om + ep) + U * np.cos(ep) - YA,
        ]
    )


def closure_derivatives(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """G = ∂g/∂q (6, 7), and Ġ v (6,)."""
    be, th, ga, ph, de, om, ep = q
    G, second = np.zeros((6, 7)), np.zeros(6)
    turning = v[0] + v[1]
    for row in (0, 2, 4):
        G[row, :2] = -RR * np.sin(be) + D * np.sin(be + th), D * np.sin(be + th)
        G[row + 1, :2] = RR * np.cos(be) - D * np.cos(be + th), -D * np.cos(be + th)
        second[row] = -RR * np.cos(be) * v[0] ** 2 + D * np.cos(be + th) * turning**2
        second[row + 1] = -RR * np.sin(be) * v[0] ** 2 + D * np.sin(be + th) * turning**2
    G[0, 2], G[1, 2] = -SS * np.cos(ga), -SS * np.sin(ga)
    G[2, 3], G[3, 3] = -E * np.cos(ph + de), -E * np.sin(ph + de)
    G[2, 4], G[3, 4] = G[2, 3] + ZT * np.sin(de), G[3, 3] - ZT * np.cos(de)
    G[4, 5], G[5, 5] = ZF * np.sin(om + ep), -ZF * np.cos(om + ep)
    G[4, 6], G[5, 6] = G[4, 5] - U * np.cos(ep), G[5, 5] - U * np.sin(ep)
    second[0] += SS * np.sin(ga) * v[2] ** 2
    second[1] -= SS * np.cos(ga) * v[2] ** 2
    second[2] += E * np.sin(ph + de) * (v[3] + v[4]) ** 2 + ZT * np.cos(de) * v[4] ** 2
    second[3] += -E * np.cos(ph + de) * (v[3] + v[4]) ** 2 + ZT * np.sin(de) * v[4] ** 2
    second[4] += ZF * np.cos(om + ep) * (v[5] + v[6]) ** 2 + U * np.sin(ep) * v[6] ** 2
    second[5] += ZF * np.sin(om + ep) * (v[5] + v[6]) ** 2 - U * np.cos(ep) * v[6] ** 2
    return G, second


def rates(_: float, y: np.ndarray) -> np.ndarray:
    """(q', v') of y = (q, v): M v' + Gᵀ λ = f and G v' = −Ġ v, the index-1 form of the test set's equations."""
    q, v = y[:7], y[7:]
    G, second = closure_derivatives(q, v)
    system = np.zeros((13, 13))
    system[:7, :7], system[:7, 7:], system[7:, :7] = mass_matrix(q), G.T, G
    return np.concatenate([v, np.linalg.solve(system, np.concatenate([forces(q, v), -second]))[:7]])
