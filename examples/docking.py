"""Force scaling makes a nanoparticle dock late, and the report of each run says by how much.

The case is the docking of Guy (2018, chapter 5) with two of its eight ligands and an initial state close to the
receptors. No complete unscaled run is needed for comparison. Each scaled run samples unscaled motion along its own
path, and its fidelity report estimates from these samples when the core would have arrived without scaling.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
short = "--short" in sys.argv
near = {
    "model.ligands": 2,
    "model.gap": "26 nm" if short else "34 nm",
    "run.stop.advance": "7 nm" if short else "15 nm",
}
explicit = {"integrator": {"rule": "kutta-merson", "rtol": 1e-5, "atol": 1e-6}}
factors = (0.03, 0.01) if short else (0.3, 0.1, 0.03)

fig, (left, right) = plt.subplots(1, 2, figsize=(6.0, 3.2), width_ratios=(1.6, 1))
arrivals, said, unsure = {}, {}, {}
with TemporaryDirectory() as folder:
    for a2 in (None, *factors):
        how = {} if a2 is None else {**explicit, "scaling": {"policy": "constant", "a2": a2}}
        run = ar.run("nanoparticle-docking", Path(folder) / f"{a2}", overrides={**near, **how}, report=False)
        core = run.positions[:, run.body_names.index("core"), 0]
        arrivals[a2], label = run.times[-1], "unscaled"
        if a2 is not None:
            report = run.summary["fidelity"]
            label = f"$a_2$ = {a2:g}: {report['verdict']}"
            paired = report["premises"]["paired"]
            said[a2] = next(m["late"] for m in paired["motions"] if m["what"] == "arrival of core")
            unsure[a2] = paired["half_width"] * run.times[-1]
        left.plot(run.times, 1e3 * (core - core[0]), "k--" if a2 is None else "-", zorder=3 - (a2 or 0), label=label)
late = {a2: arrivals[a2] - arrivals[None] for a2 in factors}
left.set(xlabel="time [µs]", ylabel="advance of the core [nm]")
left.legend()
places = np.arange(len(factors))
right.bar(places - 0.2, late.values(), 0.4, color="0.75", label="beside the unscaled run")
right.bar(places + 0.2, said.values(), 0.4, yerr=list(unsure.values()), color="C5", label="by its own report")
right.set(xlabel="$a_2$", ylabel="late [µs]", xticks=places, xticklabels=factors, ylim=(0, 1.35 * max(late.values())))
right.legend()
fig.savefig("docking.png")

assert all(abs(said[a2] - late[a2]) < unsure[a2] for a2 in factors), "late by what the report says"
assert list(late.values()) == sorted(late.values()) and min(late.values()) > 0, "the smaller the factor, the later"
