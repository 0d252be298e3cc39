"""Compiled kernels are code: they are loaded from folders of the user's own, which nobody else can write to."""

from __future__ import annotations

import os
import pickle
import shutil
import stat
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon import kernel_cache, kernel_variants, kernels
from articulon.errors import ArticulonError
from articulon.forces.evaluation import Evaluator
from articulon.passes import Program, pass_of

SHARED = kernel_cache.cache_root()
SOURCE = "def doubled(x):\n    return 2.0 * x\n"


class Planted:
    """What somebody else has put into an index: it runs when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return os.makedirs, (str(self.mark), 0o700, True)


@pytest.fixture
def shared_cache() -> Path:
    """The cache of all tests."""
    return SHARED


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of its own for each test."""
    root = tmp_path / "cache"
    monkeypatch.setenv("ARTICULON_CACHE_DIR", str(root))
    # Kernels of tests are kept as those of the package are.
    monkeypatch.setattr(kernels, "ours", lambda function: True)
    kernel_cache.cache_folder.cache_clear()
    yield root
    monkeypatch.undo()
    kernel_cache.cache_folder.cache_clear()


def fresh(folder: Path) -> object:
    """A function of a file of its own, made a kernel; what it calls is found in the cache, if anything is."""
    file = folder / "doubling.py"
    if not file.exists():
        file.write_text(SOURCE, encoding="utf-8")
    names: dict[str, object] = {"__name__": "doubling"}
    exec(compile(SOURCE, str(file), "exec"), names)
    return kernels.kernel(names["doubled"])  # type: ignore[arg-type]


def plant(folder: Path) -> Path:
    """Puts code where the index of a kernel lies; returns what it makes when it runs."""
    kernel, mark = fresh(folder), folder / "somebody-was-here"
    assert kernel(1.5) == 3.0  # type: ignore[operator]
    Path(kernel._cache._cache_file._index_path).write_bytes(pickle.dumps(Planted(mark)))  # type: ignore[attr-defined]
    kernel_cache.cache_folder.cache_clear()
    return mark


def give_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a folder be another user's, or this process another user."""
    if os.geteuid() == 0:
        os.chown(folder, 12345, -1)
    else:
        own = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: own + 1)


def test_folders_of_the_cache_are_for_the_user_alone(cache: Path) -> None:
    before = os.umask(0)
    try:
        folder = kernel_cache.cache_folder()
    finally:
        os.umask(before)
    assert folder.parent == cache
    for made in (cache, folder):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_what_is_planted_would_run(tmp_path: Path) -> None:
    """So that the tests below can fail."""
    mark = plant(tmp_path)
    fresh(tmp_path)(1.0)  # type: ignore[operator]
    assert mark.exists()


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_folder_that_others_may_write_to_is_refused_by_its_path(tmp_path: Path, mode: int) -> None:
    mark = plant(tmp_path)
    folder = kernel_cache.cache_folder()
    folder.chmod(mode)
    kernel_cache.cache_folder.cache_clear()
    with pytest.raises(
        ArticulonError, match=f"{folder}.*other users can write to it.*[Rr]emove it.*ARTICULON_CACHE_DIR"
    ):
        fresh(tmp_path)(1.0)  # type: ignore[operator]
    assert not mark.exists()


def test_a_folder_of_another_user_is_refused_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = plant(tmp_path)
    folder = kernel_cache.cache_folder()
    kernel_cache.cache_folder.cache_clear()
    give_away(folder, monkeypatch)
    with pytest.raises(ArticulonError, match=f"{tmp_path}.*belongs to another user.*ARTICULON_CACHE_DIR"):
        fresh(tmp_path)(1.0)  # type: ignore[operator]
    assert not mark.exists()


def test_a_parent_in_which_others_could_put_another_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("ARTICULON_CACHE_DIR", str(shared / "mine"))
    with pytest.raises(
        ArticulonError, match=f"{shared}.*other users can write to it, and could put another folder in its place"
    ):
        kernel_cache.cache_folder()
    assert not (shared / "mine").exists()
    # As of /tmp: others may add to it, and touch only what is theirs.
    shared.chmod(0o1777)
    assert kernel_cache.cache_folder().parent == shared / "mine"


def test_a_link_is_judged_by_where_it_lies_and_by_where_it_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("shared", "safe"):
        (tmp_path / name).mkdir()
    (tmp_path / "shared" / "inside").mkdir()
    (tmp_path / "shared" / "link").symlink_to(tmp_path / "safe")
    (tmp_path / "link").symlink_to(tmp_path / "shared" / "inside")
    (tmp_path / "good").symlink_to(tmp_path / "safe")
    (tmp_path / "shared").chmod(0o777)
    for way in ("shared/link", "link"):
        monkeypatch.setenv("ARTICULON_CACHE_DIR", str(tmp_path / way))
        with pytest.raises(ArticulonError, match=f"{tmp_path / 'shared'}"):
            kernel_cache.cache_folder()
    monkeypatch.setenv("ARTICULON_CACHE_DIR", str(tmp_path / "good"))
    assert kernel_cache.cache_folder().parent == tmp_path / "good"


KEPT = """
from pathlib import Path
from articulon import announcements, kernel_cache, kernels

def kept():
    for (_, signature), function in kernels._READY.items():
        if kernels._is_kept(function):
            index = Path(function._cache._cache_file._index_path)
            for file in (kernels._mark(function, signature), *index.parent.glob(f"{index.stem}.*")):
                yield file.relative_to(kernel_cache.cache_root())
"""
"""The files that are kept of all kernels that a process has loaded."""


def copy_kept(files: list[str], shared: Path, cache: Path) -> None:
    """Makes a cache that holds some of the files of another, in folders for the user alone."""
    for file in files:
        (cache / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(shared / file, cache / file)
    for folder in (cache, *(path for path in cache.rglob("*") if path.is_dir())):
        folder.chmod(0o700)


STRETCHED = (
    KEPT
    + """
import articulon as ar

builder = ar.ModelBuilder(units="lj")
builder.add_body("ball", mass=1.0, joint=ar.Xyz(), q=(2.0, 0.0, 0.0))
builder.add_force(ar.forces.PointSpring(bodies=("ground", "ball"), stiffness=3.0))
model = builder.build()
print(float(ar.generalized_forces(model, model.q0, model.u0)[0]))
print(*kept())
"""
)


@pytest.mark.slow
def test_an_edited_force_is_compiled_anew(tmp_path: Path, shared_cache: Path) -> None:
    """Beside what the unedited package loads, which is copied from the cache of all. A pass is compiled of the file
    that its leaf stands in, whoever makes an entry point of it."""
    package, cache = Path(kernels.__file__).parent, tmp_path / "cache"

    def ran(package: Path, cache: Path) -> tuple[float, list[str]]:
        environment = {**os.environ, "ARTICULON_CACHE_DIR": str(cache), "PYTHONPATH": str(package.parent)}
        done = subprocess.run([sys.executable, "-c", STRETCHED], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        force, kept = done.stdout.splitlines()
        return float(force), kept.split()

    force, kept = ran(package, shared_cache)
    copy_kept(kept, shared_cache, cache)
    found = []
    for name, before, after in (("as-it-is", "", ""), ("edited", "tension = k\n", "tension = 2.0 * k\n")):
        copy = tmp_path / name / "articulon"
        shutil.copytree(package, copy)  # with its byte code, which a file that is edited does not fit
        file = copy / "forces" / "point_springs.py"
        text = file.read_text(encoding="utf-8")
        assert before in text
        file.write_text(text.replace(before, after) if before else text, encoding="utf-8")
        found.append(ran(copy, cache)[0])
    assert found == [-6.0, -12.0] and force == -6.0


@pytest.mark.parametrize("patterns", kernel_cache.FLOORS, ids=lambda patterns: patterns[0])
def test_every_floor_of_the_cache_has_sources(patterns: tuple[str, ...]) -> None:
    """One that is called otherwise than its folder would be kept whatever is edited in it."""
    package = Path(kernel_cache.__file__).parent
    assert all(list(package.glob(pattern)) for pattern in patterns)


def test_a_kernel_is_kept_by_the_sources_of_all_that_it_is_made_of(tmp_path: Path) -> None:
    """The code of a loop and of the law that has been put into it."""
    files = []
    for name in ("loop", "law"):
        file = tmp_path / f"{name}.py"
        file.write_text(f"def {name}(x):\n    return x\n", encoding="utf-8")
        made: dict[str, object] = {"__name__": name}
        exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), made)
        files.append(made[name])
    loop, law = files
    both = kernel_variants.copied(loop, "both", LAW=law)  # type: ignore[arg-type]
    assert kernel_cache.files_of(both) == (str(tmp_path / "law.py"), str(tmp_path / "loop.py"))
    alone = {kernel_cache.sources_of(kernel_cache.files_of(one)) for one in (loop, law, both)}
    assert len(alone) == 3
    assert not kernel_cache.ours(both) and kernel_cache.ours(kernels.prepare)


def test_a_pass_refuses_arguments_that_its_code_would_misread() -> None:
    @pass_of
    def first(x):  # type: ignore[no-untyped-def]
        x[0] = 1.0

    bound = first.bind(np.zeros(3))
    for wrong in (np.zeros((3, 1)), np.zeros(3, dtype=np.int64), np.zeros(6)[::2]):
        with pytest.raises(TypeError, match="first: bound to"):
            bound.rebind(wrong)
    other = np.zeros(5)
    bound.rebind(other)
    Program([bound])()
    assert other.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]
    turned = [np.zeros((2, 3)), np.zeros((2, 3), order="F"), np.zeros((4, 6))[::2, ::2]]
    assert len({first.bind(one).kind for one in turned}) == 3


DAMAGED = (
    KEPT
    + """
from articulon.integrate import explicit_runge_kutta as explicit
import articulon as ar

builder = ar.ModelBuilder(units="lj")
builder.add_body("ball", mass=1.0, joint=ar.Xyz(), u=(1.0, 0.0, 0.0))
told = []
with announcements.announcing(told.append):
    run = ar.simulate(builder.build(), 1.0, frames=1)
print(float(run.q[-1, 0]))
print(Path(explicit.advance._cache._cache_file._index_path).relative_to(kernel_cache.cache_root()))
print([text for text in told if "damaged" in text])
print(*kept())
"""
)


@pytest.mark.slow
def test_what_is_damaged_is_compiled_again_and_said(tmp_path: Path, shared_cache: Path) -> None:
    """What one run needs is copied from the cache of all, and one kernel is damaged: its index, and then its code."""
    cache = tmp_path / "cache"

    def ran(cache: Path) -> list[str]:
        environment = {**os.environ, "ARTICULON_CACHE_DIR": str(cache)}
        done = subprocess.run([sys.executable, "-c", DAMAGED], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    first = ran(shared_cache)
    assert first[2] == "[]"
    copy_kept(first[3].split(), shared_cache, cache)
    index = cache / first[1]
    for kind in ("nbi", "nbc"):
        victim = next(index.parent.glob(f"{index.stem}*.{kind}"))
        victim.write_bytes(victim.read_bytes()[:100])
        again = ran(cache)
        assert again[0] == first[0] and "advance is damaged" in again[2], kind
    assert ran(cache)[2] == "[]"


def test_a_group_of_one_is_no_group_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every user has a group to themselves, folders are group-writable by default."""
    import grp

    folder = kernel_cache.cache_folder()
    folder.chmod(0o770)
    kernel_cache.cache_folder.cache_clear()
    others = grp.struct_group(("staff", "x", folder.stat().st_gid, ["somebody", "else"]))
    monkeypatch.setattr(grp, "getgrgid", lambda gid: others)
    with pytest.raises(ArticulonError, match="other users can write to it"):
        kernel_cache.cache_folder()
    import pwd

    name = pwd.getpwuid(os.geteuid()).pw_name
    alone = grp.struct_group((name, "x", folder.stat().st_gid, [name]))
    monkeypatch.setattr(grp, "getgrgid", lambda gid: alone)
    assert kernel_cache.cache_folder() == folder


@pytest.mark.parametrize("hindrance", ["a file in its place", "no permission", "read-only"])
def test_an_unwritable_cache_falls_back_to_a_private_one_and_says_so(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, hindrance: str
) -> None:
    if hindrance == "a file in its place":
        cache.write_text("mine")
    elif hindrance == "no permission":
        cache.mkdir()

        def refused(*arguments: object, **named: object) -> None:
            raise PermissionError(13, "Permission denied", str(cache))

        made = os.mkdir
        monkeypatch.setattr(os, "mkdir", lambda p, *a, **k: refused() if str(cache) in str(p) else made(p, *a, **k))
    else:
        kernel_cache.cache_folder()
        kernel_cache.cache_folder.cache_clear()
        allowed = os.access
        monkeypatch.setattr(os, "access", lambda p, *a, **k: str(cache) not in str(p) and allowed(p, *a, **k))
    with pytest.warns(RuntimeWarning, match=f"{cache}.*for this process alone.*ARTICULON_CACHE_DIR"):
        folder = kernel_cache.cache_folder()
    assert cache not in (folder, *folder.parents)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and folder.stat().st_uid == os.geteuid()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel_cache.cache_folder() == folder, "once"
    assert fresh(tmp_path)(2.0) == 4.0  # type: ignore[operator]


def test_kernels_that_are_asked_for_together_are_ready_when_all_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """And those of a compilation that was interrupted, the next time: whoever made them keeps them."""
    asked: list[list[Any]] = []

    def prepare_all(wanted: Any) -> None:
        asked.append(list(wanted))
        if len(asked) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(kernels, "prepare_all", prepare_all)

    def ask_and_interrupt() -> None:
        with kernels.preparing_together():
            assert kernels.prepare("one", "its signature") == "one"
            assert asked == []

    with pytest.raises(KeyboardInterrupt):
        ask_and_interrupt()
    with kernels.preparing_together():
        kernels.prepare("two", "its signature")
    kernels.prepare("three", "its signature")
    one, two, three = ((name, "its signature") for name in ("one", "two", "three"))
    assert asked == [[one], [one, two], [three]]


WITH_THREADS = """
import sys
import numba
import numpy as np
from articulon import kernels
from articulon.kernels import kernel, prepare

kernels.ours = lambda function: True  # as if this were a file of the package


@kernel(parallel=True)
def halve(x):
    for k in numba.prange(x.size):
        x[k] *= 0.5


@kernel(allocates=True)
def halve_twice(x):
    halve(x)
    halve(x)


x = np.ones(8)
prepare(globals()[sys.argv[1]], (numba.typeof(x),))(x)
print(x.sum())
"""


@pytest.mark.slow
def test_a_kernel_with_threads_that_another_process_compiled_starts_them(tmp_path: Path) -> None:
    """The one that shares its work out comes from the cache when that which calls it is compiled, and both do in the
    third process."""
    file = tmp_path / "shared.py"
    file.write_text(WITH_THREADS, encoding="utf-8")
    for name, total in (("halve", 4.0), ("halve_twice", 2.0), ("halve_twice", 2.0)):
        command = [sys.executable, str(file), name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert float(done.stdout) == total


def test_what_is_made_before_an_error_is_finished_before_it_is_used() -> None:
    """Kernels that were asked for together when something went wrong have addresses when what has them is run."""
    builder = ar.ModelBuilder("lj")
    builder.add_particles(2, mass=1.0, positions=((0.0, 0.0, 0.0), (1.2, 0.0, 0.0)), kind="A")
    parameters = {"A": {"epsilon": 1.0, "sigma": 1.0}}
    builder.add_force(ar.forces.LennardJones(parameters=parameters, cutoff=2.0))
    model, made = builder.build(), []

    def fail() -> None:
        with kernels.preparing_together():
            made.append(Evaluator(model))
            _ = made[0].rhs
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert made[0].measure(model.q0)[0] == pytest.approx(ar.potential_energy(model, model.q0), rel=1e-14)
    rates = np.zeros(model.nq + model.nu + 8)
    made[0].rates(np.ones(8), 0.0, 0, np.concatenate([model.q0, model.u0, np.zeros(8)]), rates)
    assert abs(rates[6]) > 0.1
