"""Each integration rule converges at its order: errors of a tumbling chain at shorter and shorter steps.

Three bodies on spherical joints move freely. The error is that of the final state, relative to a run by a rule of order
five with a tight tolerance.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
b = ar.ModelBuilder(units="kg-m-s")
b.add_body("1", mass=1.0, inertia=(0.1, 0.2, 0.15), joint=ar.Free(), u=(0, 0, 0, 0.5, 1.0, -0.4))
for k in (2, 3):
    u = (1.0, -0.5, 0.3 * k)
    b.add_body(
        f"{k}",
        parent=f"{k - 1}",
        mass=0.5,
        inertia=(0.05, 0.06, 0.02),
        com=(0, 0, 0.4),
        joint=ar.Spherical(),
        position=(0, 0, 0.5),
        u=u,
    )
model = b.build()
duration = 1.0
reference = ar.simulate(model, duration, rule="dormand-prince", rtol=1e-13, atol=1e-14, frames=1).q[-1]

fig, ax = plt.subplots()
steps = duration / np.array([20, 40, 80, 160])
orders = {
    "euler": 1,
    "implicit-midpoint": 2,
    "velocity-verlet": 2,
    "rk4": 4,
    "lobatto-iiia-iiib-3": 4,
    "dormand-prince": 5,
}
for marker, (rule, order) in zip("osv^D*", orders.items()):
    errors = [np.abs(ar.simulate(model, duration, rule=rule, step=h, frames=1).q[-1] - reference).max() for h in steps]
    slope = np.polyfit(np.log(steps[-3:]), np.log(errors[-3:]), 1)[0]
    ax.loglog(steps, errors, marker + "-", label=f"{rule}: {slope:.2f}")
    assert abs(slope - order) < 0.35, f"{rule} converges in order {order}"
ax.set_xticks(steps, [f"1/{round(1 / h)}" for h in steps], minor=False)
ax.set_xticks([], minor=True)
ax.set(xlabel="step [s]", ylabel="largest error of a coordinate")
ax.legend(title="rule: measured order", loc="center left", bbox_to_anchor=(1, 0.5))
fig.savefig("convergence_orders.png")
