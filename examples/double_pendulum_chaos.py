"""Sixteen double pendulums that start a billionth of a radian apart diverge within seconds.

All states are advanced side by side. The distances between the states grow exponentially until they are as large as the
motion itself, while each pendulum conserves its energy.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
b = ar.ModelBuilder(units="kg-m-s")
hinge = ar.Revolute(axis=(0, 1, 0))
for name, parent, position in [("upper", None, (0, 0, 0)), ("lower", "upper", (0, 0, -1))]:
    b.add_body(name, parent=parent, mass=1.0, inertia=(0, 0, 0), com=(0, 0, -1), joint=hinge, position=position)
b.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
model = b.build()

n, step, chunk = 16, 0.001, 20
Q = np.array([2.0, 2.5]) + 1e-9 * np.random.default_rng(1).normal(size=(n, 2))
ensemble = ar.Ensemble(model, Q, np.zeros((n, 2)))
times, angles, energies = [0.0], [Q], []
for k in range(1000):
    Q, U = ensemble.advance(chunk, step, rule="dormand-prince")
    times.append((k + 1) * chunk * step)
    angles.append(Q)
    energies.append(ar.kinetic_energy(model, Q, U) + ar.potential_energy(model, Q))
times, angles, energies = np.array(times), np.array(angles), np.array(energies)
distance = np.linalg.norm(angles - angles[:, :1], axis=2)[:, 1:]
mean = np.exp(np.log(distance).mean(axis=1))
growing = (mean > 1e-8) & (mean < 1e-2) & (times < times[np.argmax(mean > 1e-2)])
rate, first = np.polyfit(times[growing], np.log(mean[growing]), 1)

fig, (left, right) = plt.subplots(1, 2)
left.plot(times, np.degrees(angles[:, ::3, 1]), lw=0.8)
left.set(xlabel="time [s]", ylabel="angle of the lower rod [degrees]")
right.semilogy(times, distance, color="0.8", lw=0.5)
right.semilogy(times, mean, label="geometric mean")
right.semilogy(times, np.exp(first + rate * times), "--", label=f"exp({rate:.2f} t)")
right.set(xlabel="time [s]", ylabel="distance [rad]", ylim=(1e-10, 1e3))
right.legend(loc="lower right")
fig.savefig("double_pendulum_chaos.png")

start = ar.potential_energy(model, angles[0])
assert np.abs(energies - start).max() < 1e-8 * 9.81, "each pendulum keeps its energy"
assert 0.5 < rate < 5 and mean[-1] > 1, "neighbours part exponentially, until they are anywhere"
