"""The adjoint method differentiates the final position of a swinging chain with respect to its parameters.

One backward sweep through the run gives the derivatives with respect to all parameters. The figure compares these
derivatives with finite differences, which are accurate to a few digits only, even at the best step.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))


def chain(**changes: float) -> ar.Model:
    """Four rods on springs that are bent, with some of their parameters changed."""
    at = {"stiffness": 4.0, "damping": 0.05, "mass": 1.0, "gravity": 9.81, **changes}
    b = ar.ModelBuilder(units="kg-m-s")
    for k in range(4):
        b.add_body(
            f"{k}",
            parent=f"{k - 1}" if k else None,
            mass=at["mass"] if k == 3 else 1.0,
            inertia=(0.01, 0.01, 0.001),
            com=(0, 0, -0.1),
            joint=ar.Revolute(axis=(0, 1, 0)),
            position=(0, 0, -0.2 if k else 0),
            q=0.5,
        )
    b.add_force(ar.forces.Gravity(acceleration=(0, 0, -at["gravity"])))
    b.add_force(ar.forces.TorsionalSprings(stiffness={"*": at["stiffness"]}))
    b.add_force(ar.forces.JointDamping(rotational={"*": at["damping"]}))
    return b.build()


how = {"rule": "rk4", "step": 0.005}
names = {
    "stiffness": "forces.torsional-springs.stiffness.*",
    "damping": "forces.joint-damping.rotational.*",
    "mass": "bodies.3.mass",
}
found = ar.sensitivity(chain(), "position.3.x", list(names.values()), duration=2.0, **how)
by_adjoint = {key: float(found.gradient[name]) for key, name in names.items()}


def end(**changes: float) -> float:
    """x of the last centre of mass at the end."""
    run = ar.simulate(chain(**changes), 2.0, frames=1, **how)
    return run.positions[-1, 3, 0] - 0.1 * np.sin(run.q[-1].sum())


steps = 10.0 ** -np.arange(1, 11)
start = {"stiffness": 4.0, "damping": 0.05, "mass": 1.0}
fig, (left, right) = plt.subplots(1, 2, width_ratios=(1.5, 1))
best = {}
for key, value in start.items():
    differences = [(end(**{key: value * (1 + h)}) - end(**{key: value * (1 - h)})) / (2 * h * value) for h in steps]
    errors = np.abs(np.array(differences) / by_adjoint[key] - 1)
    best[key] = errors.min()
    left.loglog(steps, errors, "o-", label=key)
left.loglog(steps[:5], steps[:5] ** 2, "k:", lw=0.8, label="order two")
left.set(xlabel="relative step of central differences", ylabel="departure from the adjoint", ylim=(1e-12, 10))
left.legend()
right.bar(list(by_adjoint), [by_adjoint[k] * start[k] / 100 * 1e3 for k in start], color=["C0", "C1", "C2"])
right.axhline(0, color="k", lw=0.6)
right.set(ylabel="change of x by one percent more [mm]")
fig.savefig("adjoint_gradient.png")

assert all(error < 1e-6 for error in best.values()), "differences agree with the adjoint where they are at their best"
