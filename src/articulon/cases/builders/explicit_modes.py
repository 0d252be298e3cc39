"""Modes of a flexible body in a case file, for a beam, an elastic network, or from a file of NumPy arrays."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import Field

from articulon.array_files import UnreadableError, read_arrays
from articulon.declaration import Declaration, Dimension, Quantity, Whole, marked
from articulon.errors import CaseError, ModelError
from articulon.model.modes import Modes
from articulon.modes import beam, elastic_network
from articulon.molecules.structure_reading import read_structure
from articulon.units import UnitSystem, unit_system

Pair: TypeAlias = Quantity | tuple[Quantity, Quantity]
Count: TypeAlias = Annotated[Whole, Field(ge=0)]


class ModesDeclaration(Declaration):
    """Settings common to all kinds of modes."""

    damping_ratio: Annotated[Quantity, Dimension("dimensionless", minimum=0)] = 0.0
    """Damping ratio of each mode, relative to critical damping."""
    largest: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 0.1
    """Largest displacement of a node for which the linear theory is assumed to be valid, relative to the length of the
    body."""
    handle: Count = 0
    """Index of the node at handle 1, where the frame of the body is."""

    def beside(self, source: str, key: str) -> Self:
        """Return a copy whose file, if any, is located beside the case file and whose contents are recorded by a
        digest."""
        return self

    def modes(self, units: UnitSystem, where: str) -> Modes:
        """Modes of a resolved declaration; raises ModelError naming the key."""
        try:
            return self._modes(units)
        except (CaseError, ModelError) as error:
            raise ModelError(f"{where}: {error}") from None

    def _modes(self, units: UnitSystem) -> Modes:
        raise NotImplementedError  # implemented by subclasses


class InFile(ModesDeclaration):
    """Base of the modes that are read from a file."""

    file_key: ClassVar[str]
    sha256: str | None = None
    """SHA-256 of the file, written by the program to detect changes of the file."""

    def beside(self, source: str, key: str) -> Self:
        """Return a copy whose file is located beside the case file; raises CaseError if it is missing or has
        changed."""
        return marked(self, self.file_key, source, key)


class BeamModes(ModesDeclaration):
    """Modes of a uniform beam along x; see :func:`articulon.modes.beam`."""

    kind: Literal["beam"]
    length: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Length of the beam [length]."""
    mass: Annotated[Quantity, Dimension("mass", minimum=0, exclusive=True)]
    """Mass of the beam [mass]."""
    bending: Count | tuple[Count, Count] = 2
    """Number of bending modes along y and along z, or one number for both."""
    bending_stiffness: Annotated[Pair | None, Dimension("energy_length", minimum=0, exclusive=True)] = None
    """Bending stiffness EI along y and along z, or one value for both [energy length]."""
    torsion: Count = 0
    """Number of torsional modes."""
    torsional_stiffness: Annotated[Quantity | None, Dimension("energy_length", minimum=0, exclusive=True)] = None
    """Torsional stiffness GJ [energy length]."""
    stretch: Count = 0
    """Number of axial modes."""
    axial_stiffness: Annotated[Quantity | None, Dimension("force", minimum=0, exclusive=True)] = None
    """Axial stiffness EA [force]."""
    gyration: Annotated[Pair, Dimension("length", minimum=0)] = 0.0
    """Radii of gyration of the cross-section along y and z, or one value for both [length]."""
    boundary: Literal["clamped", "free", "loaded"] = "clamped"
    """Boundary conditions. ``clamped``: a cantilever held at handle 1; ``free``: both ends free; ``loaded``: another
    body at the far end."""
    nodes: Annotated[Whole, Field(ge=2)] | None = None
    """Number of nodes on the axis; by default as many as the modes need."""
    masses: Literal["consistent", "lumped"] = "consistent"
    """How the mass is distributed among the nodes."""

    def _modes(self, units: UnitSystem) -> Modes:
        given: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields if name != "kind"}
        return beam(**given, units=units.name)


class NetworkModes(InFile):
    """Modes of the elastic network of a structure; see :func:`articulon.modes.elastic_network`."""

    file_key: ClassVar[str] = "structure"

    kind: Literal["elastic-network"]
    structure: str
    """Structure file: a path relative to the case, ``.pdb`` or ``.cif``, also with ``.gz``."""
    cutoff: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Distance within which nodes are connected [length]."""
    spring_constant: Annotated[Quantity, Dimension("stiffness", minimum=0, exclusive=True)]
    """Spring constant γ [force/length]."""
    count: Annotated[Whole, Field(ge=1)]
    """Number of modes, starting with the softest."""
    nodes: Literal["residues", "atoms"] = "residues"
    """Nodes of the network: one per residue, at its Cα, or one per atom."""
    residues: tuple[Count, ...] | None = None
    """Indices of the residues that belong to the body; by default all."""

    def _modes(self, units: UnitSystem) -> Modes:
        molecular = unit_system("Da-nm-ps")
        return elastic_network(
            read_structure(self.structure),
            cutoff=float(self.cutoff) * units.ratio("length", molecular),
            spring_constant=float(self.spring_constant) * units.ratio("stiffness", molecular),
            modes=self.count,
            nodes=self.nodes,
            residues=self.residues,
            handle=self.handle,
            damping_ratio=float(self.damping_ratio),
            largest=float(self.largest),
        )


class ArrayModes(InFile):
    """Modes from a file of arrays, as written by ``numpy.savez``; see :class:`articulon.Modes`."""

    file_key: ClassVar[str] = "file"
    arrays: ClassVar[tuple[str, ...]] = ("positions", "masses", "shapes", "stiffness")

    kind: Literal["arrays"]
    file: str
    """Path relative to the case, ``.npz``, with the arrays ``positions``, ``masses``, ``shapes``, ``stiffness`` and,
    optionally, ``damping`` and ``rotations``, in the units of the case."""
    boundary: Literal["clamped", "free"] = "clamped"
    """Whether the shapes vanish at handle 1 (``clamped``), or contain no rigid motion (``free``)."""

    def _modes(self, units: UnitSystem) -> Modes:
        try:
            file = read_arrays(self.file)
        except UnreadableError as reason:
            raise ModelError(f"{self.file} {reason}") from None
        found: dict[str, Any] = {name: file[name] for name in (*self.arrays, "damping", "rotations") if name in file}
        absent = [name for name in self.arrays if name not in found]
        if absent:
            raise ModelError(f"{self.file} has no array '{absent[0]}'; it needs {', '.join(self.arrays)}")
        if float(self.damping_ratio) > 0.0:
            raise ModelError("damping_ratio: give the array 'damping' in the file instead")
        return Modes(**found, boundary=self.boundary, handle=self.handle, largest=float(self.largest))


AnyModes: TypeAlias = Annotated[BeamModes | NetworkModes | ArrayModes, Field(discriminator="kind")]
"""Modes of a body, selected by their kind."""
