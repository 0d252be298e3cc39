"""How tight Guy's modified thermostat holds the temperature, and what scaling does to the positions of a molten salt.

    python -m validation.thermostats

takes about twenty minutes and rewrites its section of docs/validation.md.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import articulon as ar
from validation.page import table, write_section

GAINS = (0.01, 0.03, 0.1, 0.3)
"""kd [ns]."""
STEP = "0.5 fs"
SKIP = 0.25


def made(case: Any, folder: Path, name: str) -> ar.Run:
    """A run in a folder of its own."""
    return ar.run(case, folder / name)


def spreads(folder: Path) -> str:
    """σ of T by gain."""
    case = ar.load_case(
        "molten-salt-100",
        {
            "integrator": {"rule": "velocity-verlet", "step": STEP},
            "run.duration": "30 ps",
            "run.frame_interval": "20 fs",
            "checks": [],
        },
    )
    rows, model = [], case.build_model()
    thermal = 300 * model.units.boltzmann * 773.0
    for gain in GAINS:
        run = made(case.with_overrides({"thermostat.derivative_gain": gain}), folder, f"gain-{gain}")
        found = ar.analysis.temperature_spread(run, SKIP)
        predicted = ar.analysis.isokinetic_spread(run, gain, 1.0, SKIP)
        rows.append(
            [
                f"{gain:g}",
                f"{2.0 * gain * thermal:.2g}",
                f"{found.measured:.3g}",
                f"{predicted:.3g}",
                f"{found.measured / predicted:.3f}",
            ]
        )
    thermostat = {"kind": "nose-hoover", "temperature": 773.0, "mass": 1.0}
    standard = ar.analysis.temperature_spread(made(case.with_overrides({"thermostat": thermostat}), folder, "standard"))
    return f"""
## The modified thermostat

`python -m validation.thermostats`. The run is `molten-salt-100` at 773 K with Q = 1 zg nm² and velocity Verlet steps of
0.5 fs. The last three quarters of 30 ps are evaluated. The table compares the standard deviation σ of the kinetic
temperature with the prediction T Q σ(q'ᵀΓ/q'ᵀMq')/(kd N k T). Here Q is the mass of the thermostat, kd its derivative
gain, N the number of degrees of freedom, q' the speeds, Γ the forces, M the mass matrix and k Boltzmann's constant. The
prediction holds if 2 kd N k T/Q is well above the fastest frequency, here about 5·10⁴/ns. σ is {standard.canonical:.1f}
K in the canonical ensemble and {standard.measured:.0f} K with the standard thermostat.

{table(["kd (ns)", "2 kd N k T/Q (1/ns)", "σ of T (K)", "predicted (K)", "ratio"], rows)}
"""


def configurations(folder: Path) -> str:
    """T of the positions by policy."""
    case = ar.load_case("molten-salt-1025", {"checks": []})
    slow = 1e-3**-0.5
    step: dict[str, Any] = {"rule": "velocity-verlet", "step": "2 fs"}
    clock: dict[str, Any] = {
        "scaling": {"policy": "atomistic-clock", "a2": 1e-3},
        "run.duration": 0.02 * slow,
        "run.frame_interval": 1e-4 * slow,
        "integrator": {"rule": "velocity-verlet", "step": 2e-6 * slow},
    }
    rows = []
    for name, changes in {
        "none": {"integrator": step},
        "atomistic (published)": {"scaling": {"policy": "atomistic", "a2": 1e-3}, "integrator": step},
        "atomistic-clock": clock,
    }.items():
        run = made(case.with_overrides(changes), folder, name.split()[0])
        kinetic = ar.analysis.average(run, "temperature_kinetic", SKIP)
        found = ar.analysis.configurational_temperature(run, SKIP)
        rows.append(
            [name, f"{kinetic.mean:.1f}", f"{found.mean:,.0f} ± {found.error:,.0f}", f"{run.summary['steps']:,}"]
        )
    return f"""
## Atomistic scaling

The same program runs `molten-salt-1025` with a2 = 0.001 and velocity Verlet steps of 2 fs for 20 ps of unscaled time.
The last three quarters are evaluated. The published policy, `atomistic`, keeps the temperature of the speeds at 773 K
and samples positions at 773 K/a2. The policy `atomistic-clock`, which also scales the target temperature, keeps both
temperatures, but takes as many steps as a run without scaling.

{table(["scaling", "speeds (K)", "positions (K)", "steps"], rows)}
"""


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        write_section("thermostats", spreads(Path(scratch)) + configurations(Path(scratch)))
