"""The modes of a flexible body in a case file: of a beam, an elastic network, or arrays in a file of NumPy's."""

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
    """What all of them have."""

    damping_ratio: Annotated[Quantity, Dimension("dimensionless", minimum=0)] = 0.0
    """Damping of each mode as a part of the critical."""
    largest: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 0.1
    """Largest displacement of a node for which linearity is said to hold, as a part of the body's length."""
    handle: Count = 0
    """Node of handle 1."""

    def beside(self, source: str, key: str) -> Self:
        """A copy with its file found beside the case file and its contents marked, where it has one."""
        return self

    def modes(self, units: UnitSystem, where: str) -> Modes:
        """The modes, of a declaration that has been resolved; raises ModelError naming the key."""
        try:
            return self._modes(units)
        except (CaseError, ModelError) as error:
            raise ModelError(f"{where}: {error}") from None

    def _modes(self, units: UnitSystem) -> Modes:
        raise NotImplementedError  # of a subclass


class InFile(ModesDeclaration):
    """Those that are made of a file."""

    file_key: ClassVar[str]
    sha256: str | None = None
    """Of the file, written by the program to tell when it has changed."""

    def beside(self, source: str, key: str) -> Self:
        """A copy with the file found beside the case file; raises CaseError for one that is not there or has
        changed."""
        return marked(self, self.file_key, source, key)


class BeamModes(ModesDeclaration):
    """Of a uniform beam along x; see :func:`articulon.modes.beam`."""

    kind: Literal["beam"]
    length: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """[length]."""
    mass: Annotated[Quantity, Dimension("mass", minimum=0, exclusive=True)]
    """[mass]."""
    bending: Count | tuple[Count, Count] = 2
    """Number of bending modes along y and along z, or one for both."""
    bending_stiffness: Annotated[Pair | None, Dimension("energy_length", minimum=0, exclusive=True)] = None
    """EI of bending along y and along z, or one for both [energy length]."""
    torsion: Count = 0
    """Number of modes of twist."""
    torsional_stiffness: Annotated[Quantity | None, Dimension("energy_length", minimum=0, exclusive=True)] = None
    """GJ [energy length]."""
    stretch: Count = 0
    """Number of modes of stretching."""
    axial_stiffness: Annotated[Quantity | None, Dimension("force", minimum=0, exclusive=True)] = None
    """EA [force]."""
    gyration: Annotated[Pair, Dimension("length", minimum=0)] = 0.0
    """Radii of gyration of the cross-section along y and z, or one for both [length]."""
    boundary: Literal["clamped", "free", "loaded"] = "clamped"
    """A cantilever on handle 1, both ends free, or with another body on the far end."""
    nodes: Annotated[Whole, Field(ge=2)] | None = None
    """On the axis; as many as the modes need by default."""
    masses: Literal["consistent", "lumped"] = "consistent"
    """How the mass is shared out among the nodes."""

    def _modes(self, units: UnitSystem) -> Modes:
        given: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields if name != "kind"}
        return beam(**given, units=units.name)


class NetworkModes(InFile):
    """Of a structure's elastic network; see :func:`articulon.modes.elastic_network`."""

    file_key: ClassVar[str] = "structure"

    kind: Literal["elastic-network"]
    structure: str
    """The file: a path beside the case, ``.pdb`` or ``.cif``, also with ``.gz``."""
    cutoff: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Distance within which nodes are joined [length]."""
    spring_constant: Annotated[Quantity, Dimension("stiffness", minimum=0, exclusive=True)]
    """γ [force/length]."""
    count: Annotated[Whole, Field(ge=1)]
    """How many modes, from the softest."""
    nodes: Literal["residues", "atoms"] = "residues"
    """One node for each residue, at its Cα, or for each atom."""
    residues: tuple[Count, ...] | None = None
    """Indices of the residues that belong to the body; all by default."""

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
    """Given in a file of arrays, as ``numpy.savez`` writes it; see :class:`articulon.Modes`."""

    file_key: ClassVar[str] = "file"
    arrays: ClassVar[tuple[str, ...]] = ("positions", "masses", "shapes", "stiffness")

    kind: Literal["arrays"]
    file: str
    """A path beside the case, ``.npz``, with the arrays ``positions``, ``masses``, ``shapes``, ``stiffness`` and, if
    there are any, ``damping`` and ``rotations``, in the units of the case."""
    boundary: Literal["clamped", "free"] = "clamped"
    """Whether shapes vanish at handle 1 or hold no rigid motion."""

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
"""The modes of a body, by their kind."""
