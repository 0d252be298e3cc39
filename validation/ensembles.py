"""Every thermostat on particles, rigid bodies and jointed chains: how far kinetic energies are off Maxwell's, the share
of every freedom off equipartition, and potential energies at two temperatures off the ratio of Boltzmann.

    python -m validation.ensembles

takes about a quarter of an hour and rewrites its section of docs/validation.md. `tests/laws/test_ensembles.py` looks at
half of these with the same samples and bounds; here one that is not kept ends the program.
"""

from __future__ import annotations

import time
import warnings

from tests.support.ensembles import (
    BEYOND,
    EVERY,
    FRAMES,
    PLANTED,
    SYSTEMS,
    boltzmann_deviation,
    check_isokinetic,
    freedoms_of,
    kinetic_deviations,
    sampled,
    share_deviations,
)
from validation.page import table, write_section


def row(system: str, name: str) -> list[str]:
    """Deviations in standard errors."""
    slope = boltzmann_deviation(system, name)
    assert slope < BEYOND
    if name == "modified":  # nearly isokinetic, as it says of itself
        check_isokinetic(system)
        return [system, name, "", "isokinetic", "", "", "", f"{slope:.1f}"]
    energies, degrees_of_freedom = sampled(system, name, 1.5)[0], freedoms_of(system, name)
    mean, width = kinetic_deviations(energies, 1.5, degrees_of_freedom)
    planted = kinetic_deviations(energies, 1.5 * PLANTED, degrees_of_freedom)[0]
    largest, square, allowed = share_deviations(system, name)
    assert max(mean, width) < BEYOND < planted
    assert largest < 5.0
    assert square < allowed
    kept = [f"{mean:.1f}", f"{width:.1f}", f"{planted:.0f}", f"{largest:.1f}", f"{square:.2f} (below {allowed:.2f})"]
    return [system, name, *kept, f"{slope:.1f}"]


def main() -> None:
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [row(system, name) for system in SYSTEMS for name in EVERY]
    frames = ", ".join(f"{count:,} of {system}" for system, count in FRAMES.items())
    write_section(
        "ensembles",
        f"""
## Thermostats and their ensembles

`python -m validation.ensembles`, {time.perf_counter() - began:.0f} s. There are the following samples: {frames}. The
table gives deviations in standard errors, computed by physical_validation (Merz and Shirts 2018). These quantities are
compared:

- the mean and width of the kinetic energy are compared with Maxwell's distribution; the column "mean, 3 % off" gives
  the deviation of the mean from a distribution that is 3 % hotter;
- ⟨u p⟩ of each degree of freedom, the product of its speed and momentum, is compared with kT; the table gives the
  largest deviation, and the mean square of all deviations;
- the slope of ln P₂(U)/P₁(U) is compared with the exact slope, where P₁ and P₂ are the distributions of the potential
  energy U at two temperatures.

The modified thermostat is nearly isokinetic, but its positions are canonical.

{table(["system", "thermostat", "mean", "width", "mean, 3 % off", "⟨u p⟩", "⟨u p⟩, square", "slope"], rows)}
""",
    )


if __name__ == "__main__":
    main()
