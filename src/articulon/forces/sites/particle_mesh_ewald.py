"""Charges in a periodic box with all their images, by particle-mesh Ewald summation."""

import math
from importlib.util import find_spec
from typing import Annotated, Literal

import numpy as np

from articulon.declaration import Dimension, Quantity, Whole
from articulon.errors import ModelError
from articulon.forces.sites.ewald import real_part
from articulon.forces.sites.ewald_exclusions import exclusion_terms
from articulon.forces.sites.lattice_sums import LatticeSum, check_damping, check_lattice_sum, surface_constant
from articulon.forces.sites.laws.cutoffs import check_cutoff
from articulon.forces.sites.mesh_charges import mesh_table
from articulon.forces.sites.mesh_estimate import MeshCharges, MeshEwaldParameters, check_points, choose_mesh
from articulon.forces.sites.mesh_splines import HIGHEST, LOWEST
from articulon.forces.sites.site_tables import SiteTable
from articulon.forces.sites.site_terms import PairTerm, SumTerm
from articulon.model import Model
from articulon.model.box import volume_of

PARALLEL_WORK = 20_000
"""Smallest number of charges plus a tenth of the mesh points for which threads share the reciprocal part."""

SKIN = 0.4
"""Default skin as a fraction of the cutoff: the cutoff of the real part is short compared with the displacement of
water's hydrogens in some steps, and listing costs as much as several sums over neighbours."""


class ParticleMeshEwald(LatticeSum):
    """U = ½ Σ_ij Σ'_n q_i q_j/(4πε₀ε_r |r_ij + n|) over all images n of a neutral periodic box, by the smooth
    particle-mesh Ewald sum (Essmann et al., J. Chem. Phys. 103, 8577, 1995).

    The sum is split as in ``ewald``: erfc(αr)/r over neighbours up to a cutoff, and the smooth rest, whose charges are
    spread over a mesh by B-splines, at a cost proportional to N log N. Forces are the gradient of the energy on the
    mesh. ``parameters(model)`` returns the α, cutoff, mesh and order that are chosen for a precision, and the expected
    errors. The sum needs rocket-fft, which is in ``pip install 'articulon[longrange]'``.

    For pairs that are excluded or lie on one body, the interaction at the nearest image is omitted.
    """

    kind: Literal["particle-mesh-ewald"] = "particle-mesh-ewald"
    precision: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 5e-4
    """Expected rms error of the forces, relative to the force between two charges of rms magnitude at their mean
    distance (volume/number)^⅓."""
    mesh: tuple[Whole, Whole, Whole] | None = None
    """Number of points along each edge; by default products of 2, 3, 5 and 7 that reach the precision."""
    order: Whole | None = None
    """Order of the B-splines, from 4 to 8; by default the cheapest."""

    def momentum_changes(self, model: Model) -> str | None:
        """See ``site_terms.py``."""
        return "has forces that sum to zero only to its precision"

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for a box that is not periodic or not neutral, a cutoff or a mesh that does not fit, a
        second sum, and if the library of transforms is missing."""
        check_lattice_sum(model, where)
        if not float(self.precision) < 1.0:
            raise ModelError(f"{where}.precision: must be less than 1, which is an error as large as the forces")
        if self.order is not None and not LOWEST <= self.order <= HIGHEST:
            raise ModelError(f"{where}.order: must lie between {LOWEST} and {HIGHEST}, got {self.order}")
        least = LOWEST if self.order is None else self.order
        if self.mesh is not None and min(self.mesh) < least:
            raise ModelError(
                f"{where}.mesh: splines of order {least} cover {least} points, but the mesh has "
                f"{tuple(self.mesh)}; give at least as many along each edge"
            )
        if self.mesh is not None:
            check_points(self.mesh, f"{where}.mesh")
        if self.cutoff is not None:
            check_cutoff(model, self.cutoff, f"{where}.cutoff")
        found = self.parameters(model, where)
        check_damping(found.damping, found.cutoff, where)
        if find_spec("rocket_fft") is None:
            raise ModelError(
                f"{where}: the sum over a mesh needs rocket-fft, which is not installed: pip install "
                "'articulon[longrange]'"
            )

    def parameters(self, model: Model, where: str = "particle-mesh-ewald") -> MeshEwaldParameters:
        """Parameters of the sum in a model, chosen by an error estimate unless given: the estimate of Kolafa and Perram
        (1992) for the real part, and the exact mean over random positions for the mesh.

        Raises
        ------
        ModelError
            If the given parameters leave no cutoff that fits the box.
        """
        assert model.box is not None
        charge = model.sites.charge
        squares = charge**2
        number = int((charge != 0.0).sum())
        charges = MeshCharges(number, float(squares.sum()), model.box.vectors, float(squares @ squares))
        cutoff, damping = (None if value is None else float(value) for value in (self.cutoff, self.damping))
        damping, cutoff, mesh, order = choose_mesh(
            charges, float(self.precision), cutoff, damping, self.mesh, self.order, where
        )
        return MeshEwaldParameters(
            damping=damping,
            cutoff=cutoff,
            mesh=mesh,
            order=order,
            real_error=charges.real_error(damping, cutoff),
            reciprocal_error=charges.mesh_error(damping, mesh, order),
        )

    def site_terms(self, model: Model) -> list[PairTerm | SumTerm]:
        """Return the real part, the reciprocal part, and the terms that remove the excluded pairs from it."""
        from articulon.forces.sites.mesh_waves import mesh_forces, mesh_forces_parallel, mesh_measure

        assert model.box is not None
        found = self.parameters(model, self.kind)
        constant = model.units.coulomb / float(self.relative_permittivity)
        permittivity = float(self.relative_permittivity)
        precise = min(float(self.precision), found.error)
        skin = SKIN * found.cutoff if self.skin is None else float(self.skin)
        real = real_part(model, found.damping, found.cutoff, permittivity, skin, precise)
        front = constant * 4.0 * math.pi / model.box.volume
        surface = surface_constant(model, self.surface_permittivity, constant)
        vectors, sites = model.box.vectors, model.sites.charge.size
        parallel = sites + 0.1 * math.prod(found.mesh) >= PARALLEL_WORK

        def in_box(edges: np.ndarray) -> tuple[SiteTable, tuple[float, float]]:
            """Return the table of the same mesh in another box."""
            s = volume_of(vectors) / volume_of(edges)
            shape = found.mesh, found.order, found.damping
            return mesh_table(sites, edges, *shape, s * front, s * surface), (0.0, 0.0)

        reciprocal = SumTerm(
            mesh_forces_parallel if parallel else mesh_forces,
            mesh_measure,
            mesh_table(sites, vectors, found.mesh, found.order, found.damping, front, surface),
            level="long",
            alone=(mesh_forces, mesh_measure),
            in_box=in_box,
        )
        factor = 1.0 / float(self.relative_permittivity)
        return [real, reciprocal, *exclusion_terms(model, found.damping, factor)]
