"""Templates of standard residues: heavy atoms, bonds, hydrogens on carbon, and single bonds that do not rotate.

Names are those of the chemical component dictionary of the wwPDB. Bonds to absent atoms are ignored, so one template
describes every protonation state and both ends of a chain.
"""

from functools import cache
from typing import NamedTuple

BACKBONE = "N-CA CA-C C-O C-OXT"

SIDE_CHAINS: dict[str, str] = {
    "GLY": "",
    "ALA": "CA-CB",
    "VAL": "CA-CB CB-CG1 CB-CG2",
    "LEU": "CA-CB CB-CG CG-CD1 CG-CD2",
    "ILE": "CA-CB CB-CG1 CB-CG2 CG1-CD1",
    "PRO": "CA-CB CB-CG CG-CD CD-N",
    "PHE": "CA-CB CB-CG CG-CD1 CG-CD2 CD1-CE1 CD2-CE2 CE1-CZ CE2-CZ",
    "TYR": "CA-CB CB-CG CG-CD1 CG-CD2 CD1-CE1 CD2-CE2 CE1-CZ CE2-CZ CZ-OH",
    "TRP": "CA-CB CB-CG CG-CD1 CG-CD2 CD1-NE1 NE1-CE2 CD2-CE2 CD2-CE3 CE2-CZ2 CE3-CZ3 CZ2-CH2 CZ3-CH2",
    "SER": "CA-CB CB-OG",
    "THR": "CA-CB CB-OG1 CB-CG2",
    "CYS": "CA-CB CB-SG",
    "MET": "CA-CB CB-CG CG-SD SD-CE",
    "ASN": "CA-CB CB-CG CG-OD1 CG-ND2",
    "GLN": "CA-CB CB-CG CG-CD CD-OE1 CD-NE2",
    "ASP": "CA-CB CB-CG CG-OD1 CG-OD2",
    "GLU": "CA-CB CB-CG CG-CD CD-OE1 CD-OE2",
    "LYS": "CA-CB CB-CG CG-CD CD-CE CE-NZ",
    "ARG": "CA-CB CB-CG CG-CD CD-NE NE-CZ CZ-NH1 CZ-NH2",
    "HIS": "CA-CB CB-CG CG-ND1 CG-CD2 ND1-CE1 CD2-NE2 CE1-NE2",
}
CARBON_HYDROGENS: dict[str, str] = {
    "GLY": "CA2",
    "ALA": "CA1 CB3",
    "VAL": "CA1 CB1 CG1:3 CG2:3",
    "LEU": "CA1 CB2 CG1 CD1:3 CD2:3",
    "ILE": "CA1 CB1 CG1:2 CG2:3 CD1:3",
    "PRO": "CA1 CB2 CG2 CD2",
    "PHE": "CA1 CB2 CD1:1 CD2:1 CE1:1 CE2:1 CZ1",
    "TYR": "CA1 CB2 CD1:1 CD2:1 CE1:1 CE2:1",
    "TRP": "CA1 CB2 CD1:1 CE3:1 CZ2:1 CZ3:1 CH2:1",
    "SER": "CA1 CB2",
    "THR": "CA1 CB1 CG2:3",
    "CYS": "CA1 CB2",
    "MET": "CA1 CB2 CG2 CE3",
    "ASN": "CA1 CB2",
    "GLN": "CA1 CB2 CG2",
    "ASP": "CA1 CB2",
    "GLU": "CA1 CB2 CG2",
    "LYS": "CA1 CB2 CG2 CD2 CE2",
    "ARG": "CA1 CB2 CG2 CD2",
    "HIS": "CA1 CB2 CD2:1 CE1:1",
}
"""Number of hydrogens on each carbon at any pH: the name of the atom followed by the number, with a colon between them
if the name ends in a digit."""

POLAR_HYDROGENS: dict[str, str] = {
    "SER": "OG1",
    "THR": "OG1:1",
    "TYR": "OH1",
    "CYS": "SG1",
    "ASN": "ND2:2",
    "GLN": "NE2:2",
    "TRP": "NE1:1",
    "ARG": "NH1:1 NH2:1",
    "LYS": "NZ2",
}
"""Minimum number of hydrogens on other atoms, over all protonation states."""
THIOLATES = frozenset(("CYX", "CYM", "CYS2", "CCYX", "CCYM"))
"""Names of cysteines without a hydrogen on sulfur. (CCYX and CCYM are AMBER's names at the end of a chain; at its start
they begin with N.)"""

CAPS = {
    "ACE": ("CH3-C C-O", "CH3:3"),
    "NME": ("N-C", "C3"),
    "NH2": ("", ""),
}
CAP_ATOMS = {"ACE": ("CH3", "C", "O"), "NME": ("N", "C"), "NH2": ("N",)}

SUGAR = "P-OP1 P-OP2 P-OP3 P-O5' O5'-C5' C5'-C4' C4'-O4' C4'-C3' C3'-O3' C3'-C2' C2'-C1' C1'-O4' C2'-O2'"  # O2' in RNA
BASES = {
    "A": "C1'-N9 N9-C8 C8-N7 N7-C5 C5-C6 C6-N6 C6-N1 N1-C2 C2-N3 N3-C4 C4-C5 C4-N9",
    "G": "C1'-N9 N9-C8 C8-N7 N7-C5 C5-C6 C6-O6 C6-N1 N1-C2 C2-N2 C2-N3 N3-C4 C4-C5 C4-N9",
    "C": "C1'-N1 N1-C2 C2-O2 C2-N3 N3-C4 C4-N4 C4-C5 C5-C6 C6-N1",
    "U": "C1'-N1 N1-C2 C2-O2 C2-N3 N3-C4 C4-O4 C4-C5 C5-C6 C6-N1",
    "T": "C1'-N1 N1-C2 C2-O2 C2-N3 N3-C4 C4-O4 C4-C5 C5-C7 C5-C6 C6-N1",
}
SUGAR_HYDROGENS = "C5':2 C4':1 C3':1 C1':1"
BASE_HYDROGENS = {"A": "C8:1 C2:1", "G": "C8:1", "C": "C5:1 C6:1", "U": "C5:1 C6:1", "T": "C6:1 C7:3"}

CONJUGATED = {
    "ARG": "NE-CZ CZ-NH1 CZ-NH2",
    "ASN": "CG-ND2",
    "GLN": "CD-NE2",
    "A": "C6-N6",
    "G": "C2-N2",
    "C": "C4-N4",
}
"""Single bonds outside rings that conjugation keeps planar: amides, guanidinium, amines on aromatic rings."""

CHI: dict[str, str] = {
    "VAL": "N-CA-CB-CG1",
    "LEU": "N-CA-CB-CG CA-CB-CG-CD1",
    "ILE": "N-CA-CB-CG1 CA-CB-CG1-CD1",
    "PHE": "N-CA-CB-CG CA-CB-CG-CD1",
    "TYR": "N-CA-CB-CG CA-CB-CG-CD1",
    "TRP": "N-CA-CB-CG CA-CB-CG-CD1",
    "SER": "N-CA-CB-OG",
    "THR": "N-CA-CB-OG1",
    "CYS": "N-CA-CB-SG",
    "MET": "N-CA-CB-CG CA-CB-CG-SD CB-CG-SD-CE",
    "ASN": "N-CA-CB-CG CA-CB-CG-OD1",
    "GLN": "N-CA-CB-CG CA-CB-CG-CD CB-CG-CD-OE1",
    "ASP": "N-CA-CB-CG CA-CB-CG-OD1",
    "GLU": "N-CA-CB-CG CA-CB-CG-CD CB-CG-CD-OE1",
    "LYS": "N-CA-CB-CG CA-CB-CG-CD CB-CG-CD-CE CG-CD-CE-NZ",
    "ARG": "N-CA-CB-CG CA-CB-CG-CD CB-CG-CD-NE CG-CD-NE-CZ",
    "HIS": "N-CA-CB-CG CA-CB-CG-ND1",
}
"""χ₁, χ₂, … of each side chain (IUPAC-IUB, J. Mol. Biol. 52, 1, 1970)."""

OTHER_NAMES = {
    **dict.fromkeys(("HID", "HIE", "HIP", "HSD", "HSE", "HSP", "HISD", "HISE", "HISH", "HISA", "HISB"), "HIS"),
    **dict.fromkeys(("CYX", "CYM", "CYS2", "CYSH"), "CYS"),
    **dict.fromkeys(("ASH", "ASPH"), "ASP"),
    **dict.fromkeys(("GLH", "GLUH"), "GLU"),
    **dict.fromkeys(("LYN", "LYSH", "LYSN"), "LYS"),
    **dict.fromkeys(("ARGN",), "ARG"),
}
"""Template of each residue name in force fields."""
NUCLEOTIDES = {
    **{name: name for name in ("A", "G", "C", "U")},
    **{f"D{base}": base for base in "AGCT"},
    **{"ADE": "A", "GUA": "G", "CYT": "C", "URA": "U", "THY": "T"},
    **{f"{prefix}{base}{end}": base for prefix in ("D", "R", "") for base in "AGCTU" for end in "35"},
}
"""Template of each nucleotide by its residue name; a missing O2' identifies DNA."""
WATERS = frozenset(("HOH", "WAT", "SOL", "DOD", "TIP", "TIP3", "TIP3P", "TP3", "SPC", "SPCE", "H2O", "T3P"))

ION_NAMES = {
    **{
        "SOD": "Na",
        "CLA": "Cl",
        "POT": "K",
        "CES": "Cs",
        "LIT": "Li",
        "RUB": "Rb",
        "CAL": "Ca",
        "BAR": "Ba",
        "CAD": "Cd",
    },
    **{"IOD": "I", "CIO": "Cs", "CU1": "Cu", "FE2": "Fe", "FE3": "Fe", "ZN2": "Zn", "MG2": "Mg"},
}
"""Chemical symbols of ions by their names in CHARMM and the PDB."""

ATOM_NAMES = {
    "amino-acid": {"OT1": "O", "OC1": "O", "O1": "O", "OT2": "OXT", "OC2": "OXT", "O2": "OXT"},
    "nucleotide": {"O1P": "OP1", "O2P": "OP2", "O3P": "OP3"},
    "ILE": {"CD": "CD1"},
    "NME": {"CH3": "C", "CA": "C", "CAT": "C", "NT": "N"},
    "ACE": {"CA": "CH3", "CAY": "CH3", "CY": "C", "OY": "O"},
    "T": {"C5M": "C7"},
}
"""Names of atoms in force fields and old files with their names in templates, by kind of residue and by template."""


class Template(NamedTuple):
    """Chemistry of a standard residue."""

    atoms: frozenset[str]
    """Heavy atoms, including those at either end of a chain."""
    bonds: tuple[tuple[str, str], ...]
    """Bonds between heavy atoms."""
    hydrogens: dict[str, int]
    """Number of hydrogens on each carbon."""
    polar: dict[str, int]
    """Minimum number of hydrogens on other atoms."""
    conjugated: frozenset[tuple[str, str]]
    """Single bonds outside rings that do not rotate, in both directions."""
    optional: frozenset[str]
    """Atoms that only some residues with this name have."""


@cache
def template(name: str) -> Template:
    """Return the template of a standard name; raise KeyError for an unknown name."""
    if name in SIDE_CHAINS:
        text, hydrogens, optional = f"{BACKBONE} {SIDE_CHAINS[name]}", CARBON_HYDROGENS[name], {"OXT"}
    elif name in CAPS:
        (text, hydrogens), optional = CAPS[name], set()
    else:
        text, hydrogens = f"{SUGAR} {BASES[name]}", f"{SUGAR_HYDROGENS} {BASE_HYDROGENS[name]}"
        optional = {"P", "OP1", "OP2", "OP3", "O2'"}
    bonds = _pairs(text)
    atoms = frozenset(atom for bond in bonds for atom in bond) | frozenset(CAP_ATOMS.get(name, ()))
    planar = _pairs(CONJUGATED.get(name, ""))
    return Template(
        atoms,
        bonds,
        dict(_counts(hydrogens)),
        dict(_counts(POLAR_HYDROGENS.get(name, ""))),
        frozenset([*planar, *((b, a) for a, b in planar)]),
        frozenset(optional),
    )


@cache
def chi_angles(name: str) -> dict[frozenset[str], tuple[str, tuple[str, ...]]]:
    """Return the name and the four atoms of each χ angle of a template, by the two atoms of the angle's axis."""
    found = {}
    for k, quadruple in enumerate(CHI.get(name, "").split(), start=1):
        atoms = tuple(quadruple.split("-"))
        found[frozenset(atoms[1:3])] = (f"chi{k}", atoms)
    return found


def kind_and_template(name: str) -> tuple[str, str]:
    """Return the kind of a residue and the name of its template, from the residue's name; both are empty for a residue
    that is not standard."""
    word = name.strip().upper()
    standard = OTHER_NAMES.get(word, word)
    # AMBER puts N or C before the names of residues at the ends of a chain: NALA, CALA.
    if len(word) == 4 and word[0] in "NC" and OTHER_NAMES.get(word[1:], word[1:]) in SIDE_CHAINS:
        standard = OTHER_NAMES.get(word[1:], word[1:])
    if standard in SIDE_CHAINS:
        return "amino-acid", standard
    if standard in CAPS:
        return "cap", standard
    if word in NUCLEOTIDES:
        return "nucleotide", NUCLEOTIDES[word]
    if word in WATERS:
        return "water", ""
    return "", ""


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((a, b) for a, b in (bond.split("-") for bond in text.split()))


def _counts(text: str) -> list[tuple[str, int]]:
    words = (word.split(":") if ":" in word else [word[:-1], word[-1]] for word in text.split())
    return [(atom, int(count)) for atom, count in words]
