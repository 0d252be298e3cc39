"""An instance of LAMMPS that evaluates forces: its commands, input and results."""

from __future__ import annotations

import itertools
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from articulon.errors import ArticulonError, ModelError
from articulon.forces.sites.lammps_plan import DATA, Plan, lammps_package
from articulon.forces.sites.lammps_ranks import Ranks, ranks_of, world
from articulon.inputs import clipped

QUIET = ("-screen", "none", "-log", "none", "-nocite")
LISTS_NEVER = "neigh_modify delay 0 every 1000000000 check no"
LISTS_NOW = "neigh_modify delay 0 every 1 check no"
"""Commands that make LAMMPS list neighbours in no step, and in every step."""
BIN = 0.25
"""Edge of the bins in which atoms are sorted, relative to the edge of a cube with one atom on average. It is smaller
than the distances of atoms within a molecule, so that the order depends on positions alone."""
BOX_BOUND = 1e-9
"""Largest accepted difference between the edges of the model's box and of LAMMPS's, relative to the longest edge."""
KEPT = 16
"""Number of latest evaluations kept: after a pause a run requests a known evaluation again."""
VIRIAL = "articulon_virial"
"""Name of LAMMPS's ``compute`` for the virial."""
_NUMBERS = itertools.count(1)
_LISTED_BY: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
"""Which of our instances last listed neighbours in a user's LAMMPS instance."""


class Known(NamedTuple):
    """A stored evaluation."""

    mark: tuple[float, float, float]
    """Some of the coordinates, which distinguish most evaluations quickly."""
    places: np.ndarray
    listed_at: np.ndarray
    measures: bool
    """Whether energy and virial are known too."""
    result: np.ndarray

    def of(self, places: np.ndarray, listed_at: np.ndarray) -> bool:
        """Whether this is the evaluation at the positions ``places`` with neighbours listed at ``listed_at``."""
        return np.array_equal(self.places, places) and np.array_equal(self.listed_at, listed_at)


class Instance:
    """LAMMPS with the sites of a model as its atoms, in the order of their ids.

    Neighbour lists are built at given positions and kept until other positions are given for them. Forces depend on the
    current positions and on the positions of the lists, not on earlier evaluations. With several ranks the order of
    atoms, and so of sums, depends on their positions.

    Parameters
    ----------
    number
        Number of the instance, the same on all ranks.
    plan
        Plan from which it is built.
    """

    def __init__(self, number: int, plan: Plan) -> None:
        self.number, self.scales, self.skin, self.sites = number, plan.scales, plan.skin, plan.sites
        self.edges = np.array(plan.edges) if plan.edges else np.eye(3)
        self.periodic = np.array(plan.periodic)
        self.own = plan.live is None
        self.ranks: Ranks = world() if self.own else ranks_of(plan.live.get_mpi_comm())
        self.listed_at: np.ndarray | None = None
        self.set_up_at: np.ndarray | None = None
        """Positions of the latest neighbour list in the current box, unless the LAMMPS instance is the user's."""
        self.kept: list[Known] = []
        self.lock = threading.Lock()
        self.shift = np.zeros((self.sites, 3))
        self.rows: Any = None
        self.lammps: Any = self._opened(plan) if self.own else plan.live
        self._set_up()

    @classmethod
    def opened(cls, plan: Plan) -> Instance:
        """Open an instance on all ranks at once."""
        found = cls.__new__(cls)
        found.number = next(_NUMBERS)
        if plan.live is None:
            world().opening(found, plan)
        found.__init__(found.number, plan)  # type: ignore[misc]
        return found

    def _opened(self, plan: Plan) -> Any:
        package = lammps_package("lammps")
        if self.ranks.size == 1:
            engine = package.lammps(cmdargs=list(QUIET))
        else:
            engine = package.lammps(cmdargs=list(QUIET), comm=self.ranks.communicator)
        # Only the first rank reads the file.
        handle, path = tempfile.mkstemp(suffix=".data", prefix="articulon-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(plan.data)
            for command in plan.commands:
                self._command(command.replace(DATA, path), engine, command)
            if self.ranks.size == 1:
                self._command("atom_modify sort 0 0.0", engine)
            else:
                edge = BIN * (_volume(engine) / max(1, self.sites)) ** (1.0 / 3.0)
                self._command(f"atom_modify sort 1 {edge!r}", engine)
            self._command(f"neighbor {plan.skin!r} bin", engine)
            self._command(LISTS_NEVER, engine)
            for command in ("thermo_style custom step pe", "thermo_modify lost error"):
                self._command(command, engine)
        finally:
            self.ranks.barrier()
            Path(path).unlink(missing_ok=True)
        return engine

    def _set_up(self) -> None:
        """Raises ModelError if atoms or box differ from those of the model."""
        engine, atoms = self.lammps, int(self.lammps.get_natoms())
        if atoms != self.sites:
            raise ModelError(
                f"LAMMPS has {atoms} atoms and the model {self.sites} sites; they must be the same, in the order of ids"
            )
        if not self.own:
            self._command(f"neighbor {self.skin!r} bin", engine)
            self._command("neigh_modify delay 0 every 1 check yes", engine)
        self._check_box()
        if not engine.has_id("compute", VIRIAL):
            self._command(f"compute {VIRIAL} all pressure NULL virial", engine)

    def _check_box(self) -> None:
        low, high, xy, yz, xz, periodic, _ = self.lammps.extract_box()
        theirs = np.array([[high[0] - low[0], 0.0, 0.0], [xy, high[1] - low[1], 0.0], [xz, yz, high[2] - low[2]]])
        self.origin = np.array(low)
        if list(map(bool, periodic)) != self.periodic.tolist():
            raise ModelError(
                f"LAMMPS's box is periodic along {_axes(periodic)}, and the model's along {_axes(self.periodic)}; make "
                "them the same (boundary)"
            )
        if not self.periodic.any():
            return
        wanted = self.scales.length * self.edges
        if not np.abs(theirs - wanted)[self.periodic].max() <= BOX_BOUND * np.abs(wanted).max():
            raise ModelError(
                f"LAMMPS's box has the edges {_rows(theirs)} and the model's {_rows(wanted)}, in LAMMPS's units; make "
                "them the same"
            )

    def _command(self, command: str, engine: Any = None, shown: str | None = None) -> None:
        with self._errors(shown or command):
            (self.lammps if engine is None else engine).command(command)

    @contextmanager
    def _errors(self, command: str) -> Iterator[None]:
        """Re-raise LAMMPS's errors with the command."""
        try:
            yield
        except Exception as error:
            text = " ".join(str(error).strip("'\"").split())
            said = ArticulonError(f"LAMMPS: '{clipped(command)}': {text}")
            if self.ranks.size > 1 and type(error).__name__ == "MPIAbortException":
                self.ranks.abort(said)  # the other ranks are waiting for this one
            raise said from None

    def _take_box(self, edges: np.ndarray) -> None:
        """Change to a box with these edges, one per row [length]."""
        self.edges, self.listed_at, self.rows, self.set_up_at = edges.copy(), None, None, None
        self.kept.clear()
        given, low = self.scales.length * edges, self.lammps.extract_box()[0]
        sizes = [f"{axis} final {low[k]!r} {float(low[k] + given[k, k])!r}" for k, axis in enumerate("xyz")]
        if self.lammps.extract_global("triclinic"):
            tilts = zip(("xy", "xz", "yz"), (given[1, 0], given[2, 0], given[2, 1]), strict=True)
            sizes += [f"{name} final {float(tilt)!r}" for name, tilt in tilts]
        self._command(f"change_box all {' '.join(sizes)} units box")

    def evaluate(
        self, places: np.ndarray, listed_at: np.ndarray, edges: np.ndarray, result: np.ndarray, measures: bool
    ) -> None:
        """Write forces (3 n,) [force] and, with ``measures``, energy and virial xx, yy, zz, xy, xz, yz [energy] to
        ``result`` (3 n + 7,); NaN if a position is not finite.

        Parameters
        ----------
        places
            Positions of the sites, unwrapped, as in the model [length], shape (3, n).
        listed_at
            Positions at which their neighbours are listed, at most half the skin away from ``places``.
        edges
            Edges of the box, one per row [length], shape (3, 3).
        """
        with self.lock:
            if self.periodic.any() and not np.array_equal(edges, self.edges):
                self._take_box(edges)
            mark = float(places[0, 0]), float(places[2, -1]), float(listed_at[0, 0])
            for known in reversed(self.kept):
                if known.mark == mark and known.measures >= measures and known.of(places, listed_at):
                    result[:] = known.result
                    return
            if not np.isfinite(listed_at).all():
                listed_at = places
            mine = _LISTED_BY.get(self.lammps) == self.number
            anew = not mine or self.listed_at is None or not np.array_equal(self.listed_at, listed_at)
            result[:] = np.nan
            if self.ranks.together(self, places, listed_at if anew else None, result, measures):
                known = Known(mark, places.copy(), listed_at.copy(), measures, result.copy())
                self.kept = [*self.kept[1 - KEPT :], known]

    def evaluate_here(self, at: np.ndarray, lists: np.ndarray | None, result: np.ndarray, measures: bool) -> None:
        """Evaluate on this rank, together with all others."""
        try:
            if lists is not None:
                self.listed_at = None
                self._list(lists)
                self.listed_at, _LISTED_BY[self.lammps] = lists.copy(), self.number
            if lists is None or not np.array_equal(at, lists):
                self._put(at)
                placed = None if self.own else self.x.copy()
                self._command("run 1 pre no post no")
                if placed is not None and not np.array_equal(self.x, placed):
                    raise ArticulonError(
                        "LAMMPS: a fix of the instance moves its atoms, as 'nve' does; remove it (unfix), because "
                        "this run moves them"
                    )
            self._take(result, measures)
        except ArticulonError:
            self.listed_at = self.rows = None
            raise
        except BaseException as error:
            self.listed_at = self.rows = None
            if self.ranks.size > 1:
                self.ranks.abort(error)
            raise

    def _list(self, places: np.ndarray) -> None:
        """List neighbours and evaluate forces there: atoms are wrapped into the box and migrate to their ranks."""
        x, before = self.scales.length * places.T, self.set_up_at
        # A step with listing is much cheaper than a complete setup, and can move atoms to the next rank only.
        near = before is not None and float(np.abs(places - before).max()) * self.scales.length < self.skin
        self.set_up_at = None
        images = np.zeros_like(x)
        if self.periodic.any():
            edges = self.scales.length * self.edges
            images = np.floor((x - self.origin) @ np.linalg.inv(edges))
            images[:, ~self.periodic] = 0.0
            images = -(images @ edges)
        self.shift = images
        if self.rows is None or not self.own:
            self._look()
        self.shift_here = self.shift[self.rows]
        self._put(places)
        if near:
            self._command(LISTS_NOW)
            try:
                self._command("run 1 pre no post no")
            finally:
                self._command(LISTS_NEVER)
        else:
            if self.ranks.size > 1:
                # Atoms may have moved farther than to the next rank.
                self._command("displace_atoms all move 0.0 0.0 0.0 units box")
            self._command("run 0 post no")
        self.set_up_at = places.copy() if self.own else None
        self._look()
        placed = self.scales.length * places.T[self.rows] + self.shift[self.rows]
        # LAMMPS moves an atom on a face of the box to the opposite face.
        self.shift_here = self.shift[self.rows] + (self.x - placed)
        self.volume = _volume(self.lammps) / self.lammps.extract_global("nktv2p")

    def _look(self) -> None:
        """Get LAMMPS's arrays, which are valid until its next listing."""
        count = int(self.lammps.extract_setting("nlocal"))
        arrays = self.lammps.numpy
        self.rows = np.array(arrays.extract_atom("id")[:count], dtype=np.int64) - 1
        if self.rows.size and (self.rows.min() < 0 or self.rows.max() >= self.sites):
            raise ArticulonError("LAMMPS: ids of the atoms must be 1, 2 and so on (reset_atoms id)")
        self.x, self.f = arrays.extract_atom("x")[:count], arrays.extract_atom("f")[:count]
        self.counts = self.ranks.counts(count)
        order = self.ranks.gathered(self.rows[:, None], self.counts)[:, 0]
        self.place = np.empty(self.sites, dtype=np.int64)
        self.place[order] = np.arange(self.sites)
        self.shift_here = self.shift[self.rows]

    def _put(self, places: np.ndarray) -> None:
        x = places.take(self.rows, axis=1)
        if self.scales.length != 1.0:
            x *= self.scales.length
        np.add(x.T, self.shift_here, out=self.x)

    def _take(self, result: np.ndarray, measures: bool) -> None:
        n, engine, per_energy = self.sites, self.lammps, 1.0 / self.scales.energy
        forces = result[: 3 * n].reshape(n, 3)
        self.ranks.gathered(self.f, self.counts).take(self.place, axis=0, out=forces)
        if per_energy != 1.0 or self.scales.length != 1.0:
            forces *= per_energy * self.scales.length
        if not measures:
            return
        with self._errors("energy and virial"):
            result[3 * n] = per_energy * engine.numpy.extract_compute("thermo_pe", 0, 0)
            result[3 * n + 1 :] = engine.numpy.extract_compute(VIRIAL, 0, 1)[:6]
        result[3 * n + 1 :] *= per_energy * self.volume
        self.ranks.from_rank_0(result[3 * n :])

    def finish(self, places: np.ndarray, velocities: np.ndarray) -> None:
        """Set the final positions (3, n), wrapped, and velocities (n, 3) of the atoms, in LAMMPS's units."""
        self._list(places)
        self.listed_at = None
        v = self.lammps.numpy.extract_atom("v")[: len(self.rows)]
        v[:] = velocities[self.rows]
        if not self.periodic.any():
            return
        # The atoms have been wrapped; only the image flags tell by how many edges of the box.
        away = self.scales.length * places.T[self.rows] - self.x
        flags = np.rint(away @ np.linalg.inv(self.scales.length * self.edges)).astype(int)
        image = self.lammps.numpy.extract_atom("image")
        for k, (a, b, c) in enumerate(flags.tolist()):
            image[k] = self.lammps.encode_image_flags(a, b, c)

    def close(self) -> None:
        """Close LAMMPS."""
        if self.own:
            self.lammps.close()


def _volume(engine: Any) -> float:
    low, high = engine.extract_box()[:2]
    return float(np.prod(np.array(high) - np.array(low)))


def _axes(periodic: Iterable[Any]) -> str:
    return ", ".join(axis for axis, one in zip("xyz", periodic, strict=True) if one) or "none"


def _rows(edges: np.ndarray) -> str:
    return ", ".join("(" + ", ".join(f"{x:.7g}" for x in edge) + ")" for edge in edges)
