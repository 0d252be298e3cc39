"""How large the friction-implicit step may be: equipartition, spring energies and stability of GP1b chains at 300 K.

    python -m validation.statistics

takes about five minutes and rewrites its section of docs/validation.md. The chains are those of Guy (2018), tables D.3
and D.4, jointed D–C–B–A. Their exact averages come from importance sampling of e^{−U/kT} √det M(q), which shares only
the mass matrix with the engine.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import articulon as ar
from articulon.integrate import FrictionImplicit
from articulon.integrate.status import REACHED
from tests.support.chains import mean_and_error
from tests.support.docking import FASTEST
from tests.support.running import Running, momenta, turned
from validation.page import table, write_section

LINKS = (
    ("D", 1.25e-3, 1.63e-5, 1.02e-11, 5e-3),
    ("C", 1.25e-3, 1.66e-5, 1.04e-11, 2e-3),
    ("B", 1.5e-3, 9.31e-6, 8.38e-12, 2e-3),
    ("A", 2e-3, 3.91e-5, 6.25e-11, 1e-3),
)
"""Name, radius [μm], mass [fg], inertia [fg μm²], spring [fg μm²/μs²]."""
STIFFER = 20.0
"""The springs are stiffer by this, so that the chains relax within 0.02 μs and short runs have independent samples."""
RATIOS = (10, 30, 45, 60, 75)


def chains(count: int) -> Any:
    """Chains of spherical joints on the ground, with springs, Stokes drag and noise at 300 K."""
    builder = ar.ModelBuilder(units="fg-um-us")
    for c in range(count):
        parent, reach = None, 0.0
        for name, radius, mass, inertia, _ in LINKS:
            parent = builder.add_body(
                f"{name}{c}",
                parent=parent,
                mass=mass,
                inertia=inertia,
                com=(radius, 0.0, 0.0),
                joint=ar.Spherical(),
                position=(reach, 0.0, 0.0),
            )
            reach = 2.0 * radius
    builder.add_force(ar.forces.TorsionalSprings(stiffness={f"{n}*": STIFFER * k for n, _, _, _, k in LINKS}))
    builder.add_force(ar.forces.StokesDrag(viscosity="0.89 mPa s", radius={f"{n}*": r for n, r, *_ in LINKS}))
    builder.add_force(ar.forces.Brownian(temperature="300 K"))
    return builder.build()


def ensemble(kT: float, draws: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Exact mean spring energies in kT and their errors, and q and u of ``count`` chains drawn from the ensemble."""
    rng, single = np.random.default_rng(5), chains(1)
    stiffness = STIFFER * np.array([k for *_, k in LINKS]) / kT
    angles = rng.normal(size=(2 * draws, 4, 3)) / np.sqrt(stiffness)[:, None]
    size = np.linalg.norm(angles, axis=-1)
    haar = np.prod(np.sinc(0.5 * size / np.pi) ** 2 * (size < np.pi), axis=1)
    angles = angles[rng.random(2 * draws) < haar][:draws]
    q = turned(np.broadcast_to([1.0, 0.0, 0.0, 0.0], (len(angles), 4, 4)), angles)
    weight = np.array([np.sqrt(np.linalg.det(ar.mass_matrix(single, x.ravel()) * 1e15)) for x in q])
    weight /= weight.sum()
    energy = 0.5 * stiffness * (angles**2).sum(axis=-1)
    mean = weight @ energy
    error = np.sqrt((weight**2) @ (energy - mean) ** 2)
    chosen = rng.choice(len(weight), size=count, p=weight)
    speeds = []
    for k in chosen:
        L = np.linalg.cholesky(ar.mass_matrix(single, q[k].ravel()))
        speeds.append(np.linalg.solve(L.T, rng.normal(size=12)) * np.sqrt(kT))
    return mean, error, q[chosen].ravel(), np.concatenate(speeds)


def spring_energies(q: np.ndarray, kT: float) -> np.ndarray:
    e = q.reshape(-1, 4, 4)
    angle = 2.0 * np.arctan2(np.linalg.norm(e[..., 1:], axis=-1), np.abs(e[..., 0]))
    return 0.5 * STIFFER * np.array([k for *_, k in LINKS]) / kT * angle**2


def row_of_chains(ratio: int, count: int, until: float, samples: int) -> list[str]:
    forest = chains(count)
    kT = forest.units.boltzmann * 300.0
    exact, spread, q, u = ensemble(kT, 40_000, count)
    h = ratio * FASTEST
    between = max(1, round(until / samples / h))
    run = Running(forest, FrictionImplicit(step=h), seed=1, window=h, q=q, u=u)
    products, energies = [], []
    for k in range(samples):
        if run.driver.advance(run.state, (k + 1) * between * h, 10**9) != REACHED:
            return [f"{ratio}", f"{h * 1e6:.2f}", f"not finite after {run.steps} steps", *[""] * 7]
        products.append((run.u * momenta(forest, run.q, run.u)).reshape(count, 4, 3).mean(axis=-1) / kT)
        energies.append(spring_energies(run.q, kT))
    velocities, e1 = mean_and_error(np.array(products))
    springs, e2 = mean_and_error(np.array(energies))
    e2 = np.hypot(e2 / exact, spread / exact)
    return [
        f"{ratio}",
        f"{h * 1e6:.2f}",
        *(f"{100 * (v - 1):+.1f} ± {100 * e:.1f}" for v, e in zip(velocities, e1, strict=True)),
        *(f"{100 * (s - 1):+.1f} ± {100 * e:.1f}" for s, e in zip(springs / exact, e2, strict=True)),
    ]


def stable_ratio(noise: bool, steps: int) -> tuple[int, int]:
    """The largest tried step, in relaxation times, at which the docking case runs its steps from thermal speeds, with
    each of three seeds, and the next one tried."""
    changes: dict[str, Any] = {"model.gap": "65 nm"}
    if noise:
        changes["forces.brownian"] = {"temperature": "300 K"}
    model = ar.load_case("nanoparticle-docking", changes).build_model()
    L = np.linalg.cholesky(ar.mass_matrix(model, model.q0) / (model.units.boltzmann * 300.0))
    good, tried = 0, (30, 60, 70, 80, 90, 100, 120, 150, 200, 400, 1000, 3000)
    for ratio in tried:
        h = ratio * FASTEST
        for seed in (1, 2, 3) if noise else (1,):
            speeds = np.linalg.solve(L.T, np.random.default_rng(seed).normal(size=model.nu)) if noise else None
            run = Running(model, FrictionImplicit(step=h), seed=seed, window=h, u=speeds)
            if run.driver.advance(run.state, steps * h, steps) != REACHED:
                return good, ratio
        good = ratio
    return good, tried[-1]


def main() -> None:
    began = time.monotonic()
    rows = [row_of_chains(ratio, 300, 0.06, 400) for ratio in RATIOS]
    noisy, too_long = stable_ratio(True, 50_000)
    quiet, quiet_too_long = stable_ratio(False, 5_000)
    head = ["h/τ", "h [ps]", *(f"⟨u·p⟩ {n} [%]" for n, *_ in LINKS), *(f"spring {n} [%]" for n, *_ in LINKS)]
    text = f"""
## Friction-implicit steps far above the fastest relaxation time

`python -m validation.statistics`, {time.monotonic() - began:.0f} s. 300 GP1b chains of Guy (2018), tables D.3 and D.4,
move at 300 K for 0.06 μs. Their springs are {STIFFER:.0f} times as stiff as in the paper, so that the chains relax
within the run. τ = {FASTEST * 1e6:.3f} ps is the rotational relaxation time of body B. For each body the table gives
the deviation of ⟨u·p⟩ from equipartition, where u are the speeds and p the momenta. For each spring it gives the
deviation of the mean energy from that of the exact ensemble. The errors are one standard error.

{table(head, rows)}

With steps of up to 30 τ the deviations are statistical errors of the sample, about 2 %. With longer steps the mean
energies of the outer springs (B and A) become too large, by about 10 % at 60 τ.

The case `nanoparticle-docking` was also run, with a distance of 65 nm from the tips to the receptors' plane. With noise
and thermal initial speeds, the run stays finite over 50,000 steps of h = {noisy} τ with each of three seeds, but not
with steps of {too_long} τ. Without noise and from rest, the run stays finite over 5,000 steps of {quiet} τ, but not
with steps of {quiet_too_long} τ. With noise, the angle √(kT/I) h limits the step. This is the angle by which thermal
motion rotates the lightest body, with the moment of inertia I, in one step. At {noisy} τ this angle is
{np.sqrt(4.142e-3 / 8.38e-12) * noisy * FASTEST:.2f} rad.
"""
    write_section("statistics", text)


if __name__ == "__main__":
    main()
