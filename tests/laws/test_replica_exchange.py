"""Replica exchange keeps the distribution of every run, whatever the temperatures and the locked joints."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import articulon as ar
from articulon.errors import CaseError, ModelError
from articulon.runs.exchange_rule import Exchanges, own_seed
from articulon.runs.replica_exchange import replicas_of

LANGEVIN = ar.thermostats.Langevin(temperature=1.0, friction=1.0)
STEPS = {"rule": "friction-implicit", "drift": "geodesic", "step": 0.1}
DEPTH, MASS, INERTIA = 0.2, 2.0, 0.5


def arm(fixman: bool = False) -> ar.Model:
    """Two links in a plane, the shoulder on a spring and the elbow at θ in U = DEPTH (1 − cos 2θ)."""
    builder = ar.ModelBuilder("lj")
    hinge = ar.Revolute(axis=(0.0, 0.0, 1.0))
    builder.add_body("upper", mass=0.2, inertia=INERTIA, joint=hinge)
    at = {"position": (1.0, 0.0, 0.0), "com": (1.0, 0.0, 0.0)}
    builder.add_body("lower", parent="upper", mass=MASS, inertia=INERTIA, joint=hinge, **at)
    # The dihedral angle of these four, whose axis is that of the elbow, is θ.
    for body, place in (("upper", (2, 0, 0)), ("upper", (1, 0, 0)), ("lower", (0, 0, 1)), ("lower", (1, 0, 1))):
        builder.add_site(body, tuple(map(float, place)), kind="a")
    wells = {"stiffness": DEPTH, "multiplicity": 2, "phase": math.pi}
    builder.add_force(ar.forces.PeriodicDihedrals(dihedrals=((0, 1, 2, 3),), **wells))
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"upper": 5.0}))
    if fixman:
        builder.add_force(ar.forces.Fixman(temperature=1.0))
    return builder.build()


def average(of: Callable, kT: float, weight: Callable = lambda theta: 1.0) -> float:
    """⟨f(θ)⟩ of exp(−U(θ)/kT) times a weight."""
    theta = np.linspace(-math.pi, math.pi, 4001)[:-1]
    p = np.exp(-DEPTH * (1.0 - np.cos(2.0 * theta)) / kT) * weight(theta)
    return float((of(theta) * p).sum() / p.sum())


def elbow_alone(theta: np.ndarray) -> np.ndarray:
    """√M₁₁, of the shoulder with the elbow held: large where the arm is stretched."""
    return np.sqrt(2.0 * INERTIA + MASS * (2.0 + 2.0 * np.cos(theta)))


def both(theta: np.ndarray) -> np.ndarray:
    """√det M of both joints."""
    one, other = 2.0 * INERTIA + MASS * (2.0 + 2.0 * np.cos(theta)), INERTIA + MASS
    across = INERTIA + MASS * (1.0 + np.cos(theta))
    return np.sqrt(one * other - across**2)


def check(values: np.ndarray, exact: float, most: float) -> None:
    """A mean within four errors, from blocks longer than the correlation, which must be small."""
    blocks = values[: values.size // 20 * 20].reshape(20, -1).mean(axis=1)
    error = blocks.std(ddof=1) / math.sqrt(20)
    assert error < most
    assert abs(values.mean() - exact) < 4.0 * error, f"{values.mean():.4f} ± {error:.4f}, and it is {exact:.4f}"


def elbows(run: ar.Run) -> np.ndarray:
    """θ at the frames after the first."""
    return run.q[50:, 1]


@pytest.mark.slow
def test_every_temperature_keeps_its_own_distribution() -> None:
    exchange = ar.replica_exchange(arm(), 700.0, every=2.0, temperatures=(0.5, 1.0, 2.0), thermostat=LANGEVIN, **STEPS)
    assert (exchange.acceptance > 0.3).all() and (exchange.acceptance < 1.0).all()
    assert exchange.round_trips > 5
    for T, run in zip(exchange.temperatures, exchange.runs, strict=True):
        check(np.cos(2.0 * elbows(run)), average(lambda x: np.cos(2.0 * x), T, both), 0.06)
        check(np.cos(elbows(run)), 0.0, 0.1)
        check(run.q[50:, 0] ** 2, T / 5.0, 0.08 * T)


@pytest.mark.slow
@pytest.mark.parametrize("fixman", [False, True], ids=["bare", "fixman"])
def test_every_lock_state_keeps_its_own_distribution(fixman: bool) -> None:
    """With the elbow held a run has √M₁₁ where a free one has √det M, which is another distribution of θ; with Fixman's
    potential both have neither."""
    exchange = ar.replica_exchange(arm(fixman), 700.0, every=2.0, locked=((), ("lower",)), thermostat=LANGEVIN, **STEPS)
    assert exchange.acceptance[0] > 0.3
    free, held = (elbows(run) for run in exchange.runs)
    flat = (lambda theta: 1.0) if fixman else None
    check(np.cos(free), average(np.cos, 1.0, flat or both), 0.1)
    check(np.cos(2.0 * free), average(lambda x: np.cos(2.0 * x), 1.0, flat or both), 0.06)
    check(np.cos(held), average(np.cos, 1.0, flat or elbow_alone), 0.1)
    # Between exchanges the elbow of the second run stands still.
    moved = np.abs(np.diff(exchange.runs[1].q[1:, 1])) > 1e-12
    before = np.r_[1, exchange.walkers[:-2, 1]]
    np.testing.assert_array_equal(moved, exchange.walkers[:-1, 1] != before)


@pytest.mark.parametrize("fixman", [False, True], ids=["bare", "fixman"])
def test_the_likelihood_of_an_exchange_is_that_of_the_distributions(fixman: bool) -> None:
    """Of runs at two temperatures, one with its elbow held, by the closed forms of U and of both determinants."""
    states = {"temperatures": (1.0, 1.5), "locked": ((), ("lower",))}
    exchange = ar.replica_exchange(arm(fixman), 3.0, every=3.0, thermostat=LANGEVIN, **states, **STEPS)
    exchanges = Exchanges(exchange.runs[0].model, exchange.temperatures, 1)
    x, y = (run.memory.state.q for run in exchange.runs)
    assert abs(x[1] - y[1]) > 0.1

    def energy(q: np.ndarray) -> float:
        return DEPTH * (1.0 - math.cos(2.0 * q[1])) + 2.5 * q[0] ** 2

    def density(k: int, q: np.ndarray) -> float:
        """ln π_k(q)."""
        root = 0.0 if fixman else math.log((both, elbow_alone)[k](q[1]))
        return -energy(q) / exchange.temperatures[k] + root

    energies = [energy(q) for q in (x, y)]
    wanted = density(0, y) + density(1, x) - density(0, x) - density(1, y)
    assert exchanges.likelihood(replicas_of(exchange.runs), 0, energies) == pytest.approx(wanted, abs=1e-9)


def test_the_books_of_runs_that_exchange_close() -> None:
    """What an exchange changes is heat of the thermostats: what is left is the error of the steps, as without any."""
    exchange = ar.replica_exchange(
        arm(fixman=True),
        40.0,
        every=1.0,
        temperatures=(1.0, 1.5),
        locked=((), ("lower",)),
        thermostat=LANGEVIN,
        **(STEPS | {"step": 0.02}),
    )
    assert exchange.accepted[0] > 3
    for run in exchange.runs:
        # Flights of 0.1 move the kinetic energy by 0.05 in this time, and their error is of second order.
        assert np.abs(run.observables["energy_balance"]).max() < 0.01
        assert run.summary["conservative_works"]["potential"]["error"] < 0.01


def test_exchanges_follow_from_the_seed() -> None:
    ends = [
        ar.replica_exchange(arm(), 4.0, every=1.0, temperatures=(1.0, 1.2), thermostat=LANGEVIN, seed=3, **STEPS)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(ends[0].walkers, ends[1].walkers)
    for one, other in zip(ends[0].runs, ends[1].runs, strict=True):
        np.testing.assert_array_equal(one.q, other.q)


def test_wrong_exchanges_are_refused() -> None:
    model = arm()

    def exchange(**changed) -> ar.Run:
        given = {"every": 1.0, "temperatures": (1.0, 1.2), "thermostat": LANGEVIN, **STEPS, **changed}
        return ar.replica_exchange(model, 2.0, **given)

    with pytest.raises(CaseError, match="thermostat: expected one of"):
        exchange(thermostat="langevin")
    with pytest.raises(CaseError, match="the temperatures of two runs or more"):
        exchange(temperatures=(1.0,))
    with pytest.raises(CaseError, match=r"3 temperatures and 2 sets"):
        exchange(temperatures=(1.0, 1.1, 1.2), locked=((), ("lower",)))
    with pytest.raises(CaseError, match="temperatures: must be positive"):
        exchange(temperatures=(1.0, -1.0))
    with pytest.raises(CaseError, match="expected a list with one entry for each run"):
        exchange(locked="lower")
    with pytest.raises(CaseError, match="not a whole number of intervals"):
        exchange(every=0.7)
    with pytest.raises((CaseError, ModelError), match="elbow"):
        exchange(locked=((), ("elbow",)))
    with pytest.raises(CaseError, match="scaling: scaled forces sample a distribution other than"):
        exchange(scaling=ar.scaling.Constant(a2=0.5))
    group = ar.adaptive.Group(bodies=("lower",), lock=ar.adaptive.Schedule(times=(0.0,)))
    adaptive = ar.adaptive.Adaptive(every=1.0, groups=(group,))
    with pytest.raises(CaseError, match="adaptive: locking and releasing joints"):
        exchange(adaptive=adaptive)
    with pytest.raises(CaseError, match="exchange at constant volume"):
        exchange(barostat=ar.barostats.MonteCarlo(pressure=1.0, compressibility=1.0))


def test_runs_of_one_seed_share_no_noise_with_those_of_the_next() -> None:
    seeds = {own_seed(seed, run) for seed in range(20) for run in range(20)}
    assert len(seeds) == 400 and max(seeds) < 2**63


def test_restrained_models_exchange() -> None:
    """A restraint's places are found while the kernels of a run are asked for together."""
    model = arm()
    restrained = replace(model, forces=(*model.forces, ar.forces.PositionRestraint(bodies=("lower",), stiffness=1.0)))
    exchange = ar.replica_exchange(restrained, 1.0, every=0.5, temperatures=(1.0, 1.2), thermostat=LANGEVIN, **STEPS)
    assert exchange.walkers.shape == (2, 2)


def test_what_has_no_distribution_is_refused() -> None:
    """A force without an energy, which the rule could not weigh, a drive, and friction without noise."""
    model = arm()
    how = {"every": 1.0, "temperatures": (1.0, 1.2), "thermostat": LANGEVIN, **STEPS}
    for force, what in (
        (ar.forces.JointActuation("upper", 5.0), r"forces\[2\], 'joint-actuation' has no energy function"),
        (
            ar.forces.StokesDrag(translational=1.0, rotational=1.0),
            "'stokes-drag' only dissipates energy, so no run keeps its temperature",
        ),
        (
            ar.forces.JointDamping(rotational={"upper": 1.0}),
            "'joint-damping' only dissipates energy, so no run keeps its temperature",
        ),
    ):
        with pytest.raises(CaseError, match=what):
            ar.replica_exchange(replace(model, forces=(*model.forces, force)), 2.0, **how)
    with pytest.raises(CaseError, match="rotations: exchanges redraw joint speeds"):
        ar.replica_exchange(model, 2.0, rotations="euler-parameters", **how)


def test_an_exchange_leaves_the_centre_of_mass_at_rest_where_a_thermostat_says_so() -> None:
    builder = ar.ModelBuilder("lj", box=ar.Box((6.0, 6.0, 6.0)))
    at = 1.5 * np.array([[i, j, k] for i in range(3) for j in range(3) for k in range(3)], dtype=float)
    builder.add_particles(27, mass=1.0, positions=at, kind="A")
    builder.add_force(ar.forces.WeeksChandlerAndersen(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}))
    bath = ar.thermostats.StochasticVelocityRescaling(temperature=1.0, time=0.5, centre_of_mass="removed")
    exchange = ar.replica_exchange(
        builder.build(), 2.0, every=0.5, temperatures=(1.0, 1.05), thermostat=bath, rule="velocity-verlet", step=0.01
    )
    assert exchange.accepted[0] > 0
    for run in exchange.runs:
        assert np.abs(run.u.reshape(-1, 27, 3).sum(axis=1)).max() < 1e-10
