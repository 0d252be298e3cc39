"""Articulated chains that move within a user's LAMMPS instance."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from articulon.dynamics.multibody_functions import check_model
from articulon.errors import ModelError
from articulon.forces.sites.lammps_force import Lammps, instance_of
from articulon.forces.sites.site_positions import site_positions
from articulon.lammps.model_writing import STYLE_OF, _site_velocities
from articulon.lammps.unit_styles import unit_style
from articulon.model import Model
from articulon.runs.entry import simulate
from articulon.runs.run import Run


class Coupled:
    """Moves the chains of a model under the forces of a LAMMPS instance, which may have any styles.

    Parameters
    ----------
    lmp
        A ``lammps.lammps`` with its box, atoms and styles. Start it with ``-screen none -log none``, because it prints
        a line at every evaluation. Its atoms must have the ids 1, 2, …, in the order of the sites of the model, and no
        fix may move or constrain them. Its ``neighbor`` and ``neigh_modify`` settings are replaced.
    model
        Model that defines which atoms form bodies and how the bodies are joined, such as a model from
        :func:`articulon.lammps.read_data`. Its forces between sites are ignored. Its forces on bodies and joints act in
        addition to those of LAMMPS.
    skin
        Distance beyond the cutoffs up to which LAMMPS lists neighbours [length]; 0.8 σ or 2 Å by default.

    Raises
    ------
    ModelError
        If the units of the model differ from those of the instance, or if there are more MPI ranks than trees.

    Examples
    --------
    ::

        coupled = ar.lammps.Coupled(lmp, model)
        run = coupled.run(10.0, rule="friction-implicit", drift="geodesic", step=0.01)
        lmp.command("write_data after.data")
    """

    def __init__(self, lmp: Any, model: Model, *, skin: float | None = None) -> None:
        check_model(model, "Coupled")
        if model.units.name not in STYLE_OF:
            raise ModelError(
                f"Coupled: LAMMPS needs models in the units {' and '.join(STYLE_OF)}, but this one has "
                f"{model.units.name}"
            )
        style, theirs = STYLE_OF[model.units.name], str(lmp.extract_global("units"))
        if theirs != style:
            raise ModelError(
                f"Coupled: LAMMPS's units are '{theirs}', but those of the model, {model.units.name}, are '{style}'"
            )
        force = Lammps(instance=lmp, units=style, skin=skin).resolved(model.units, "Coupled")
        kept = [one for one in model.forces if not hasattr(one, "site_terms")]
        self.lmp, self.model = lmp, replace(model, forces=(*kept, force))
        """The LAMMPS instance, and the model that moves its atoms."""
        force.check(self.model, "Coupled")
        self._force = force
        self.q, self.u = np.array(model.q0), np.array(model.u0)
        """State at the end of the latest run: coordinates (nq,) and speeds (nu,)."""

    def run(
        self,
        duration: float | str,
        *,
        q: Sequence[float] | np.ndarray | None = None,
        u: Sequence[float] | np.ndarray | None = None,
        **steps: Any,
    ) -> Run:
        """Run for a duration, and leave the atoms of LAMMPS at the final positions and velocities.

        With several MPI ranks, all must call this method with the same arguments.

        Parameters
        ----------
        duration
            Simulated time [time].
        q, u
            Initial state; by default the state at the end of the latest run.
        steps
            ``rule``, ``step``, ``thermostat``, ``frames`` and other options of :func:`articulon.simulate`.

        Returns
        -------
        Run
            The results in memory, on all ranks.

        Raises
        ------
        ArticulonError
            If LAMMPS fails (the message contains LAMMPS's message), or if the states of the ranks differ.
        """
        begins = self.q if q is None else q, self.u if u is None else u
        done = simulate(self.model, duration, q=begins[0], u=begins[1], **steps)
        self.q, self.u = done.q[-1].copy(), done.u[-1].copy()
        units = unit_style(STYLE_OF[self.model.units.name])
        places = site_positions(self.model, self.q)
        velocities = _site_velocities(self.model, self.q, self.u) / units.velocity
        instance_of(self._force, self.model).finish(np.ascontiguousarray(places.T), velocities)
        return done
