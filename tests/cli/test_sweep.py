"""Sweeps: members end on the bits of runs by themselves whatever is killed, and what cannot be is refused by name."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import psutil
import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

import articulon as ar
from articulon import cli
from articulon.errors import ArticulonError, CaseError
from articulon.storage.folder_claim import claimed
from articulon.sweeps import ensemble_entry, sweep_workers, sweeping
from articulon.sweeps.member_task import order, run_member
from articulon.sweeps.slurm_script import write_slurm
from articulon.sweeps.sweep_members import members_of, seeds_of
from articulon.sweeps.sweep_progress import SilentSweep, SweepProgress, sweep_shown_by
from articulon.sweeps.sweeping import Sweeping

pytestmark = pytest.mark.usefixtures("undrawn")
WALKER = """
[case]
title = "A ball that diffuses to a plane"
units = "fg-um-us"

[[model.bodies]]
name = "ball"
mass = 1.0
inertia = 0.1
joint = "xyz"

[[forces]]
kind = "stokes-drag"
translational = 10.0
rotational = 0.1

[[forces]]
kind = "brownian"
temperature = 300.0

[integrator]
rule = "friction-implicit"
step = 0.05

[run]
duration = 20.0
frames = 40
checkpoint_interval = 0.05

[run.stop]
body = "ball"
direction = [0, 0, 1]
advance = 0.15
label = "docked"
"""
SPRING = """
[case]
title = "A rod on a spring"
units = "kg-m-s"

[[model.bodies]]
name = "rod"
mass = 1.0
inertia = 1.0
joint = "revolute"
axis = [0, 1, 0]
q = 1.0

[[forces]]
kind = "torsional-springs"
stiffness = {rod = 1.0}

[integrator]
rule = "velocity-verlet"
step = 0.1

[run]
duration = 2000.0
frames = 10
"""
"""At a step beyond 2/ω = 2 s its amplitude grows until it is no number."""


@pytest.fixture
def walker(tmp_path: Path) -> Path:
    (tmp_path / "walker.toml").write_text(WALKER, encoding="utf-8")
    return tmp_path / "walker.toml"


@pytest.fixture
def spring(tmp_path: Path) -> Path:
    (tmp_path / "spring.toml").write_text(SPRING, encoding="utf-8")
    return tmp_path / "spring.toml"


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(cli.app, [str(one) for one in arguments], env={"COLUMNS": "1000", "NO_COLOR": "1"})


def no_workers(*_: object) -> Any:
    raise AssertionError("workers were started")


def refused(result: Result, *parts: str) -> None:
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("error: ") and "Traceback" not in result.output
    for part in parts:
        assert part in result.stderr


# What members are


def test_every_combination_of_values_has_every_seed(walker: Path) -> None:
    case = ar.load_case(walker)
    found = members_of(case, seeds_of(2), {"forces.brownian.temperature": ["280 K", 300], "integrator.step": [0.1]})
    assert [member.name for member in found] == [
        "temperature=280_K-step=0.1-seed=1",
        "temperature=280_K-step=0.1-seed=2",
        "temperature=300-step=0.1-seed=1",
        "temperature=300-step=0.1-seed=2",
    ]
    assert len({member.group for member in found}) == 2
    first = found[0].case_of(case)
    assert (first.run.seed, first.integrator.step, first.forces[1].temperature) == (1, 0.1, 280.0)


def test_members_that_would_be_called_alike_are_told_apart(walker: Path) -> None:
    found = members_of(ar.load_case(walker), (1,), {"case.title": ["a/b", "a b", "x" * 300]})
    names = [member.name for member in found]
    assert len(set(names)) == 3 and max(map(len, names)) <= 120


@pytest.mark.parametrize(
    ("seeds", "vary", "words"),
    [
        (0, {}, "must be at least 1"),
        ([], {}, "empty list"),
        ([3, 3], {}, "a seed twice"),
        (2.5, {}, "expected a valid integer"),
        (2, {"run.seed": [1, 2]}, "run.seed belongs in seeds"),
        (2, {"run.duration": [1.0, 1.0]}, "a value twice"),
        (2, {"run.duration": ["1 nm"]}, "run.duration"),
        (2, {"run.durations": [1]}, "unknown key"),
        (2, {"run.duration": 3.0}, "expected a list of values"),
        (2, [1], "vary: expected lists of values by key"),
    ],
)
def test_seeds_and_values_that_cannot_be_are_refused(walker: Path, seeds: Any, vary: Any, words: str) -> None:
    with pytest.raises(CaseError, match=words):
        ar.ensemble(walker, seeds, vary, walker.parent / "sweep")
    assert not (walker.parent / "sweep").exists()


# One sweep, and what comes of it


@pytest.mark.slow  # starts workers, which import everything: some seconds
def test_a_failing_member_is_reported_and_harms_no_other(spring: Path) -> None:
    folder, alone = spring.parent / "sweep", spring.parent / "alone"
    done = ar.ensemble(spring, 2, {"integrator.step": [0.1, 10.0]}, folder)
    assert [row["name"] for row in done.table if row["error"]] == ["step=10.0-seed=1", "step=10.0-seed=2"]
    for name, error in done.failed.items():
        assert "the run diverged" in error
        assert (folder / name / "error.txt").read_text(encoding="utf-8").strip() == error.strip()
    ar.run(spring, alone, overrides={"integrator.step": 0.1, "run.seed": 2}, report=False)
    assert (folder / "step=0.1-seed=2" / "checkpoint.npz").read_bytes() == (alone / "checkpoint.npz").read_bytes()
    assert [run.summary["seed"] for run in done.runs] == [1, 2]
    good, bad = done.summary["groups"]
    assert (good["failed"], bad["failed"], bad["figures"]) == (0, 2, {})
    # What a member is averaged over is what its run gives.
    assert good["averages"]["kinetic_energy"]["mean"] == pytest.approx(done.runs[0].kinetic_energy.mean(), rel=1e-14)
    assert good["averages"]["kinetic_energy"]["n"] == 2
    assert "nothing in this case is random" in " ".join(done.summary["notes"])
    assert json.loads((folder / "ensemble.json").read_text(encoding="utf-8")) == done.summary
    page = (folder / "ensemble.html").read_text(encoding="utf-8")
    assert "2 of 4 members have failed" in page and "the run diverged" in page and "http" not in page

    # Seeds are added, and what has ended is not run again.
    before = {path: path.stat().st_mtime_ns for path in folder.glob("step=0.1-*/checkpoint.npz")}
    with pytest.raises(ArticulonError, match=r"it varies integrator.step over \[0.1, 10.0\]"):
        ar.ensemble(spring, 3, {"integrator.step": [0.1]}, folder, resume=True)
    again = ar.ensemble(spring, 3, {"integrator.step": [0.1, 10.0]}, folder, workers=1, resume=True)
    assert len(again.runs) == 3 and len(again.failed) == 3
    for name, error in again.failed.items():
        # Their states are no numbers, so that the first two cannot go on; why is not forgotten.
        assert error.startswith("the run diverged") and error.count("cannot be continued") == (not name.endswith("3"))
    assert {path: path.stat().st_mtime_ns for path in before} == before


def children(process: int) -> list[psutil.Process]:
    """Workers of a sweep."""
    found = []
    try:
        for one in psutil.Process(process).children(recursive=True):
            if any("spawn_main" in part for part in one.cmdline()):
                found.append(one)
    except psutil.NoSuchProcess:
        pass
    return found


def waited(until: Callable[[], bool], process: subprocess.Popen[str], seconds: float = 120.0) -> None:
    ends = time.monotonic() + seconds
    while not until() and process.poll() is None:
        assert time.monotonic() < ends
        time.sleep(0.02)


@pytest.mark.slow  # three starts of a sweep and its workers, and 8 runs twice: 20 seconds on idle cores
def test_killed_sweeps_and_workers_end_with_the_bytes_of_runs_one_by_one(walker: Path) -> None:
    """8 short runs; the sweep is killed twice, each time after a worker was."""
    folder, random_numbers = walker.parent / "sweep", random.Random(7)
    longer = {"run.duration": 5000.0, "run.stop.advance": 100.0, "run.frames": 40}
    changes = [part for key, value in longer.items() for part in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "articulon", "sweep", walker, "--seeds", "8", "--workers", "2", *changes]
    command += ["--out", folder, "--resume"]

    def ended() -> int:
        return len(list(folder.glob("*/member.json")))

    def begun() -> int:
        return len(list(folder.glob("*/checkpoint.npz")))

    kills = 0
    for part in range(2):
        process = subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        before, goal = begun(), 2 + 2 * part
        waited(lambda before=before, goal=goal: begun() > before or ended() >= goal, process)
        time.sleep(random_numbers.uniform(0.0, 0.4))
        workers = children(process.pid)
        if workers:
            random_numbers.choice(workers).send_signal(signal.SIGKILL)
            kills += 1
        waited(lambda goal=goal: ended() >= goal, process)
        time.sleep(random_numbers.uniform(0.0, 0.3))
        workers = children(process.pid)
        process.kill()
        process.wait()
        # Nothing of it is left that could write into the folder of a member.
        psutil.wait_procs(workers, timeout=20.0)
        assert not [one for one in workers if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
    assert kills >= 2
    assert ended() < 8, "the last one finishes what is left"
    finished = {path.parent: path.stat().st_mtime_ns for path in folder.glob("*/member.json")}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert {place: (place / "member.json").stat().st_mtime_ns for place in finished} == finished
    for seed in range(1, 9):
        alone = walker.parent / f"alone-{seed}"
        ar.run(walker, alone, overrides={**longer, "run.seed": seed}, report=False)
        for name in ("checkpoint.npz", "topology.pdb"):
            assert (folder / f"seed={seed}" / name).read_bytes() == (alone / name).read_bytes(), f"{name} of {seed}"


@pytest.mark.slow
def test_an_interrupted_sweep_saves_its_runs_and_says_how_to_go_on(walker: Path) -> None:
    folder = walker.parent / "sweep"
    command = [sys.executable, "-m", "articulon", "sweep", str(walker), "--seeds", "1", "--out", str(folder)]
    command += ["--set", "run.duration=1e7", "--set", "run.stop=false", "--set", "run.checkpoint_interval=1000"]
    process = subprocess.Popen([*command, "--workers", "1"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    waited(lambda: (folder / "seed=1" / "checkpoint.npz").exists(), process)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "0 of 1 members have ended" in said and "--resume --workers 1" in said and "Traceback" not in said
    summary = ar.open_run(folder / "seed=1").summary
    # Its checkpoints are further apart than it ran: the state was saved because it was asked to stop.
    assert summary["status"] == "interrupted" and summary["simulated_time"] > 0.0


# Workers that end


class Lost:
    """A task whose worker has ended."""

    def __init__(self, key: str, progress: Callable[[], None]) -> None:
        self.key, self.status = key, "error"
        self.progress = progress

    def add_done_callback(self, function: Callable[[Any], None]) -> None:
        self.progress()
        function(self)

    def exception(self) -> Exception:
        from distributed.scheduler import KilledWorker

        return KilledWorker(self.key, None, 0)

    def release(self) -> None: ...


class Deadly:
    """Workers that all end, some after their run got further."""

    def __init__(self, progress: Callable[[], None]) -> None:
        self.client, self.tasks, self.progress = self, 0, progress

    def count(self) -> int:
        return 1

    def check(self) -> None: ...

    def subscribe_topic(self, *_: Any) -> None: ...

    def unsubscribe_topic(self, *_: Any) -> None: ...

    def submit(self, function: Any, told: Any, key: str, pure: bool) -> Lost:
        assert function is run_member and not pure
        self.tasks += 1
        return Lost(key, self.progress)


@pytest.mark.parametrize("further", [0, 7])
def test_a_member_that_ends_its_workers_again_and_again_has_failed(walker: Path, further: int) -> None:
    """And one that gets further each time is not given up."""
    case, folder = ar.load_case(walker), walker.parent / "sweep"
    (member,) = members_of(case, (1,), None)
    left = [further]

    def progress() -> None:
        if left[0]:
            left[0] -= 1
            (folder / member.name).mkdir(parents=True, exist_ok=True)
            (folder / member.name / "checkpoint.new").write_text(str(left[0]), encoding="utf-8")
            (folder / member.name / "checkpoint.new").replace(folder / member.name / "checkpoint.npz")

    class Never:
        requested = False

    workers = Deadly(progress)
    found = Sweeping(case, folder, 0.0, SilentSweep())
    assert not found.run([member], workers, Never())  # type: ignore[arg-type]
    assert workers.tasks == further + sweeping.DEATHS
    assert "5 consecutive times" in found.errors[member.name]
    assert "5 consecutive times" in (folder / member.name / "error.txt").read_text(encoding="utf-8")


def test_a_task_says_how_a_run_ended_and_raises_nothing(walker: Path, tmp_path: Path) -> None:
    case = ar.load_case(walker, {"run.duration": 0.5, "run.frames": 1})
    found = run_member(order("one", case, tmp_path / "one", 0.0, "topic"))
    assert found["member"] == "one" and found["status"] == "complete" and found["error"] is None
    assert json.loads(json.dumps(found)) == found, "plain numbers and texts"
    assert (tmp_path / "one" / "member.json").is_file()
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    found = run_member(order("file", case, tmp_path / "file", 0.0, "topic"))
    assert found["status"] == "failed" and "is a file, not a folder" in found["error"]
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


@pytest.mark.slow  # starts a worker
def test_nobody_without_its_certificate_reaches_the_scheduler_of_a_sweep(tmp_path: Path) -> None:
    """Other users of a machine reach its loopback interface, and a scheduler runs what it is sent."""
    with sweep_workers.local_workers(1, tmp_path) as workers:
        assert workers.count() == 1
        places = [workers.client.scheduler_info()["address"], *workers.client.nthreads()]
        for place in places:
            assert place.startswith("tls://127.0.0.1:")
            with socket.create_connection(("127.0.0.1", int(place.rpartition(":")[2])), timeout=30) as plain:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                # By TLS 1.3 whoever has no certificate learns of that when it reads.
                with pytest.raises(ssl.SSLError), context.wrap_socket(plain) as stream:
                    stream.recv(1)


# What is refused


def test_a_folder_of_something_else_is_refused(walker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ensemble_entry, "local_workers", no_workers)
    quick = {"run.duration": 0.5, "run.frames": 1}
    case, folder = ar.load_case(walker, quick), walker.parent / "sweep"
    ar.run(case, folder, report=False)
    with pytest.raises(ArticulonError, match=r"sweep holds a run \(case.toml\), not a sweep"):
        ar.ensemble(case, 2, out=folder)
    other = walker.parent / "other"
    ar.run(ar.load_case(walker, {**quick, "integrator.step": 0.1, "run.seed": 2}), other / "seed=2", report=False)
    with pytest.raises(ArticulonError, match=r"seed=2 holds another run: integrator.step differ"):
        ar.ensemble(case, 2, out=other, resume=True)
    with pytest.raises(ArticulonError, match=r"seed=2 holds another run \(case.toml\); continue the sweep"):
        ar.ensemble(case, 2, out=other)


def test_another_sweep_in_the_folder_is_refused(walker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ensemble_entry, "local_workers", no_workers)
    folder, key = walker.parent / "sweep", "forces.brownian.temperature"
    ar.load_case(walker)
    assert (
        invoke("sweep", walker, "--seeds", 3, "--vary", f"{key}=280K,300K", "--out", folder, "--slurm").exit_code == 0
    )
    before = {path: path.read_bytes() for path in folder.iterdir()}

    def asked(seeds: Any, values: Any, overrides: Any = None, resume: bool = True) -> None:
        ar.ensemble(walker, seeds, {key: values}, folder, resume=resume, overrides=overrides)

    with pytest.raises(ArticulonError, match=r"holds another sweep \(sweep.json\); continue it"):
        asked(3, ["280K", "300K"], resume=False)
    with pytest.raises(ArticulonError, match=r"it has 3 seeds, but the request lacks \[3\]"):
        asked(2, ["280K", "300K"])
    with pytest.raises(ArticulonError, match=r"it varies forces.brownian.temperature over"):
        asked(3, ["280K"])
    with pytest.raises(ArticulonError, match=r"integrator.step differ from .*sweep.toml"):
        asked(3, ["280K", "300K"], {"integrator.step": 0.1})
    (folder / "sweep.json").write_text("{", encoding="utf-8")
    with pytest.raises(ArticulonError, match=r"sweep.json: is damaged"):
        asked(3, ["280K", "300K"])
    (folder / "sweep.json").write_bytes(before[folder / "sweep.json"])
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    with pytest.raises(AssertionError, match="workers were started"):  # this one goes on
        asked(4, ["300K", "280K"])


def test_two_sweeps_in_one_folder_are_refused(walker: Path) -> None:
    folder = walker.parent / "sweep"
    with claimed(folder, lambda _: None, "sweep"):
        refused(invoke("sweep", walker, "--seeds", 2, "--out", folder), "sweep: a sweep is active here (process")
        refused(invoke("sweep", walker, "--seeds", 2, "--out", folder, "--slurm"), "a sweep is active here (process")


def test_a_scheduler_that_is_not_there_is_refused(walker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_workers, "CONNECTING", 0.5)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        result = invoke("sweep", walker, "--scheduler", address, "--out", walker.parent / "sweep")
    refused(result, f"no scheduler answers at {address}")
    assert not (walker.parent / "sweep").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--scheduler", "somewhere"), "scheduler: expected its address"),
        (("--scheduler", "tcp://127.0.0.1:1", "--workers", "2"), "give only one"),
        (("--slurm", "--workers", "2"), "--slurm does not run anything"),
        (("--workers", "0"), "workers: must be at least 1"),
        (("--seeds", "many"), "cannot read --seeds 'many'"),
        (("--skip", "120%"), "--skip: expected a fraction"),
        (("--vary", "run.duration"), "cannot read --vary"),
        (("--vary", "scaling.b2=0.1"), "articulon sweep"),
    ],
)
def test_options_that_cannot_be_are_refused(walker: Path, options: tuple[str, ...], words: str) -> None:
    refused(invoke("sweep", walker, "--out", walker.parent / "sweep", *options), words)
    assert not (walker.parent / "sweep").exists()


def test_without_dask_the_extra_is_named(walker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    refused(invoke("sweep", walker, "--out", walker.parent / "sweep"), "pip install 'articulon[ensemble]'")


def test_a_case_with_python_objects_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    case = ar.load_case("double-pendulum", {"run.duration": "0.1 s"})
    force = ar.forces.JointActuation(function=lambda time, q, u, parameters, tau: None)
    with pytest.raises(CaseError, match="forces"):
        ar.ensemble(replace(case, forces=(*case.forces, force), allow_code=True), 2, out=tmp_path / "sweep")
    assert not (tmp_path / "sweep").exists()


# Slurm


def fake_command(folder: Path) -> dict[str, str]:
    """An environment in which ``articulon`` prints what it is given."""
    (folder / "bin").mkdir()
    command = folder / "bin" / "articulon"
    command.write_text('#!/bin/bash\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}


def test_slurm_runs_one_member_a_task_and_goes_on_where_it_has_begun(walker: Path) -> None:
    folder = walker.parent / "my sweep"
    result = invoke("sweep", walker, "--seeds", "2", "--vary", "run.stop.label=done,it's", "--out", folder, "--slurm")
    assert result.exit_code == 0, result.output
    assert "members" in result.stdout and "sbatch" in result.stdout
    script = (folder / "sweep.slurm").read_text(encoding="utf-8")
    assert script.startswith("#!/bin/bash\n")
    assert "#SBATCH --array=1-4\n" in script and "#SBATCH --cpus-per-task=1\n" in script
    assert f'#SBATCH --output="{folder}/slurm-%A_%a.log"\n' in script
    assert (folder / "members.tsv").read_text(encoding="utf-8").splitlines()[2] == (
        "label=it_s-seed=1\trun.stop.label=it's\trun.seed=1"
    )
    assert not list(folder.glob("*/")), "nothing is run"
    environment = {**fake_command(walker.parent), "SLURM_ARRAY_TASK_ID": "3"}

    def task() -> list[str]:
        done = subprocess.run(
            ["bash", str(folder / "sweep.slurm")], capture_output=True, text=True, check=True, env=environment
        )
        return done.stdout.splitlines()

    expected = ["run", f"{folder}/sweep.toml", "--out", f"{folder}/label=it_s-seed=1", "--set", "run.threads=1"]
    expected += ["--set", "run.stop.label=it's", "--set", "run.seed=1"]
    assert task() == expected
    (folder / "label=it_s-seed=1").mkdir()
    (folder / "label=it_s-seed=1" / "case.toml").touch()
    assert task() == [*expected, "--resume"]
    environment["SLURM_ARRAY_TASK_ID"] = "5"
    failed = subprocess.run(["bash", str(folder / "sweep.slurm")], capture_output=True, env=environment, check=False)
    assert failed.returncode == 2 and b"has no line 5" in failed.stderr


def test_what_a_job_array_runs_are_the_members(walker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings in its list make the cases that the sweep itself would run, and it collects their runs."""
    monkeypatch.setattr(ensemble_entry, "local_workers", no_workers)
    case = ar.load_case(walker, {"run.duration": 0.5, "run.frames": 1})
    vary = {"forces.brownian.temperature": ["280 K", 310.5], "integrator.step": [0.05]}
    plan = ensemble_entry.plan_of(case, 2, vary)
    _, listed = write_slurm(plan, walker.parent / "sweep", "articulon sweep", resume=False)
    from articulon.cli.commands import assignments

    for line, member in zip(listed.read_text(encoding="utf-8").splitlines(), plan.members, strict=True):
        name, *settings = line.split("\t")
        own = ar.load_case(walker.parent / "sweep" / "sweep.toml", assignments(settings))
        assert name == member.name and own.digest() == member.case_of(case).digest()
        ar.run(own, walker.parent / "sweep" / name, report=False)
    done = ar.ensemble(case, 2, vary, walker.parent / "sweep", resume=True)
    assert len(done.runs) == 4 and not done.failed


def test_members_that_are_added_come_after_those_that_are_listed(walker: Path) -> None:
    """Tasks of an array that still wait would else run other members than were asked for."""
    vary, folder = {"integrator.step": [0.05, 0.025]}, walker.parent / "sweep"
    _, listed = write_slurm(ensemble_entry.plan_of(walker, 2, vary), folder, "articulon sweep", resume=False)
    before = listed.read_text(encoding="utf-8").splitlines()
    write_slurm(ensemble_entry.plan_of(walker, 3, vary), folder, "articulon sweep", resume=True)
    after = listed.read_text(encoding="utf-8").splitlines()
    assert after[:4] == before and len(after) == len(set(after)) == 6


def test_a_sweep_for_slurm_is_collected_with_what_means_leave_out(walker: Path) -> None:
    result = invoke("sweep", walker, "--seeds", "2", "--skip", "20%", "--slurm", "--out", walker.parent / "sweep")
    assert result.exit_code == 0, result.output
    assert "--resume --skip 20%" in (walker.parent / "sweep" / "sweep.slurm").read_text(encoding="utf-8")


def test_no_name_of_a_file_gets_out_of_the_script(walker: Path) -> None:
    folder, plan = walker.parent / "it's; touch owned", ensemble_entry.plan_of(walker, 1, None)
    write_slurm(plan, folder, "articulon sweep 'x\ntouch owned'", resume=False)
    lines = (folder / "sweep.slurm").read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if line.startswith("touch")]
    environment = {**fake_command(walker.parent), "SLURM_ARRAY_TASK_ID": "1"}
    subprocess.run(["bash", str(folder / "sweep.slurm")], check=True, env=environment, cwd=walker.parent)
    assert not (walker.parent / "owned").exists()
    with pytest.raises(ArticulonError, match="must not contain a line break"):
        write_slurm(plan, walker.parent / "a\nb", "articulon sweep", resume=False)


def commands() -> list[str]:
    """Sweeps on the page about them."""
    text = (Path(__file__).parents[2] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    lines = (line.split("#")[0] for line in text.splitlines() if line.startswith("articulon sweep "))
    return list(dict.fromkeys(lines))


@pytest.mark.parametrize("line", commands())
def test_the_commands_of_the_page_are_taken(line: str, walker: Path) -> None:
    """Written for Slurm, which checks all of them and runs nothing."""
    words = shlex.split(line)[1:]
    for option in ("--workers", "--scheduler", "--out"):
        if option in words:
            del words[words.index(option) : words.index(option) + 2]
    words = [str(walker) if word == "case.toml" else word for word in words if word != "--slurm"]
    result = invoke(*words, "--slurm", "--out", walker.parent / "sweep")
    assert result.exit_code == 0, result.output


# How it is shown


def test_a_sweep_is_shown_line_by_line_in_a_file() -> None:
    stream = StringIO()
    shown = SweepProgress(Console(file=stream, width=200))
    shown.begin(20, 0, "2 workers")
    for k in range(20):
        shown.running(f"seed={k}", 0.5)
        shown.ended(f"seed={k}", "complete", 1.0, "no force\nmore" if k == 3 else None)
    shown.close()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "20 members; 2 workers"
    assert "seed=3: failed: no force" in lines
    assert sum("of 20 ended" in line for line in lines) == 10
    assert lines[-1] == "20 of 20 ended, 1 of them failed"


def test_a_sweep_is_a_table_on_a_terminal() -> None:
    stream = StringIO()
    shown = SweepProgress(Console(file=stream, width=100, force_terminal=True))
    shown.begin(3, 1, "2 workers")
    shown.running("seed=\x1b[2J2", 0.25)
    shown.ended("seed=3", "complete", 1.0, None)
    shown.running("seed=3", 0.9)  # a last word that comes late
    table = shown._table()
    shown.close()
    printed = StringIO()
    Console(file=printed, width=100).print(table)
    assert "25%" in printed.getvalue() and "2 of 3 ended" in printed.getvalue()
    assert "seed=\\x1b[2J2" in printed.getvalue() and "seed=3" not in printed.getvalue()


def test_what_shows_nothing_is_no_progress() -> None:
    with pytest.raises(CaseError, match="progress: expected True, False, or an object with begin"):
        sweep_shown_by("loud")  # type: ignore[arg-type]
    assert isinstance(sweep_shown_by(False), SilentSweep)
