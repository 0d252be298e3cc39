"""Files of structures, particles and meshes with something wrong in their lines or bytes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

import articulon as ar
from articulon import molecules
from articulon.model.surfaces import read_mesh, surface
from validation.faulty.case_texts import XYZ, arrays_file, solid, stl, structure_file
from validation.faulty.cases import consider
from validation.faulty.kinds import Faulty, Kind
from validation.faulty.mutations import damaged, hostile, one

COLUMNS = (
    (0, 6),
    (6, 11),
    (12, 16),
    (16, 17),
    (17, 20),
    (21, 22),
    (22, 26),
    (26, 27),
    (30, 38),
    (38, 46),
    (46, 54),
    (54, 60),
    (60, 66),
    (76, 78),
    (78, 80),
)
"""Fields of an ATOM line."""
FIELDS = (
    "",
    "*****",
    "nan",
    "inf",
    "-9999.999",
    "1e30",
    "99999",
    "A",
    "XX",
    "é",
    "\x00",
    "0",
    "-1",
    " ",
    "ALA",
    "HOH",
    "CYS",
    "N",
    "CA",
    "SG",
    "TER",
    "MODEL",
    "ATOM",
    "CONECT",
)


def _pdb(content: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    """A field of a line, a line or the bytes of a PDB file changed."""
    lines = content.decode("latin-1").splitlines() or [""]
    at = int(rng.integers(len(lines)))
    way = one(rng, ("field", "field", "field", "short", "twice", "out", "swap", "record", "model", "altloc", "bytes"))
    if way == "field":
        first, last = one(rng, COLUMNS)
        width, line = last - first, lines[at].ljust(80)
        lines[at] = line[:first] + one(rng, FIELDS)[:width].rjust(width) + line[last:]
    elif way == "short":
        lines[at] = lines[at][: int(rng.integers(80))]
    elif way == "twice":
        lines.insert(at, lines[at])
    elif way == "out":
        del lines[at]
    elif way == "swap":
        lines[at], lines[at - 1] = lines[at - 1], lines[at]
    elif way == "record":
        numbers = "".join(f"{int(n):5d}" for n in rng.integers(-5, 60, 5))
        lines.insert(
            at,
            one(
                rng,
                (
                    "TER",
                    "END",
                    "CONECT" + numbers,
                    "SSBOND   1 CYS A    3    CYS A    4",
                    "LINK",
                    "CONECT",
                    "SEQRES   1 A   99  ALA ALA",
                    "MODEL",
                    "HETATM",
                    "ANISOU",
                    "CRYST1 0 0 0",
                ),
            ),
        )
    elif way == "model":
        lines = ["MODEL        1", *lines, "ENDMDL", "MODEL        2", *lines, "ENDMDL"]
    elif way == "altloc":
        lines[at] = lines[at].ljust(80)[:16] + one(rng, "AB1 ") + lines[at].ljust(80)[17:]
    else:
        return damaged(content, rng)
    return "\n".join(lines).encode("latin-1", "replace"), f"{way} in line {at + 1}"


def _cif(content: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    """A word, a line or the bytes of an mmCIF file changed."""
    lines = content.decode("latin-1").splitlines() or [""]
    at = int(rng.integers(len(lines)))
    way = one(rng, ("word", "word", "out", "twice", "bytes"))
    words = lines[at].split()
    if way == "word" and words:
        words[int(rng.integers(len(words)))] = one(
            rng, (*FIELDS, "?", ".", "loop_", "data_", "'", ";", "_atom_site.id")
        )
        lines[at] = " ".join(words)
    elif way == "out":
        del lines[at]
    elif way == "twice":
        lines.insert(at, lines[at])
    else:
        return damaged(content, rng)
    return "\n".join(lines).encode("latin-1", "replace"), f"{way} in line {at + 1}"


def make_structure(rng: np.random.Generator) -> Faulty:
    """A structure file, and how it is to be read."""
    ending = one(rng, (".pdb", ".pdb", ".cif"))
    content, done = structure_file(ending), []
    for _ in range(int(rng.integers(1, 4))):
        content, what = (_pdb if ending == ".pdb" else _cif)(content, rng)
        done.append(what)
    name = f"peptide{ending}"
    if rng.random() < 0.1:
        content, name = gzip.compress(content), name + ".gz"
        if rng.random() < 0.5:
            content, what = damaged(content, rng)
            done.append(f"compressed, {what}")
    options: dict[str, Any] = {}
    if rng.random() < 0.5:
        options = {
            "accept": (
                "missing-atoms",
                "missing-hydrogens",
                "extra-hydrogens",
                "missing-ends",
                "gaps",
                "bond-lengths",
                "clashes",
            ),
            "altloc": "highest",
        }
    return Faulty(f"{name}: {'; '.join(done)}", {name: content}, options)


def read_structure(faulty: Faulty, folder: Path) -> None:
    structure = molecules.read_structure(folder / next(iter(faulty.files)), **faulty.value)
    level = ("all-atom-torsion", "side-chains", "residue")[len(faulty.what) % 3]
    articulation = molecules.perceive(structure, level=level)
    molecules.build(structure, articulation)


def make_particles(rng: np.random.Generator) -> Faulty:
    """Particles from an xyz or npz file."""
    content, what = damaged(XYZ if rng.random() < 0.6 else arrays_file(), rng)
    name = "ions.npz" if what.endswith(str(len(arrays_file()))) else "ions.xyz"
    return Faulty(f"{name}: {what}", {name: content, "case.toml": _PARTICLES.format(name).encode()})


_PARTICLES = """
[case]
units = "zg-nm-ns"
[model]
builder = "particles"
file = "{}"
species = {{Na = {{mass = 1.0}}, Cl = {{mass = 1.0}}}}
[run]
duration = 1.0
"""


def read_particles(faulty: Faulty, folder: Path) -> None:
    consider(ar.load_case(folder / "case.toml"))


def _off() -> bytes:
    vertices, triangles = solid()
    lines = ["OFF", f"{len(vertices)} {len(triangles)} 0", *(" ".join(map(str, v)) for v in vertices.tolist())]
    return "\n".join([*lines, *("3 " + " ".join(map(str, t)) for t in triangles.tolist()), ""]).encode()


def _obj() -> bytes:
    vertices, triangles = solid()
    lines = ["v " + " ".join(map(str, v)) for v in vertices.tolist()]
    return "\n".join([*lines, *("f " + " ".join(map(str, t)) for t in (triangles + 1).tolist()), ""]).encode()


def _ply() -> bytes:
    vertices, triangles = solid()
    head = [
        "ply",
        "format ascii 1.0",
        f"element vertex {len(vertices)}",
        "property float x",
        "property float y",
        "property float z",
        f"element face {len(triangles)}",
        "property list uchar int vertex_indices",
        "end_header",
    ]
    rows = [" ".join(map(str, v)) for v in vertices.tolist()] + [
        "3 " + " ".join(map(str, t)) for t in triangles.tolist()
    ]
    return "\n".join([*head, *rows, ""]).encode()


def _binary_stl() -> bytes:
    vertices, triangles = solid()
    kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    rows = np.zeros(len(triangles), dtype=kind)
    rows["corners"] = vertices[triangles]
    return b"\x00" * 80 + np.uint32(len(triangles)).tobytes() + rows.tobytes()


MESHES = {"part.stl": stl, "solid.stl": _binary_stl, "part.obj": _obj, "part.ply": _ply, "part.off": _off}


def make_mesh(rng: np.random.Generator) -> Faulty:
    """A mesh file, or vertices and triangles."""
    if rng.random() < 0.15:
        vertices, triangles = (array.tolist() for array in solid())
        table = {"vertices": vertices, "triangles": triangles}
        for _ in range(int(rng.integers(1, 3))):
            rows = table[one(rng, ("vertices", "triangles"))]
            if rows and rng.random() < 0.8:
                row = rows[int(rng.integers(len(rows)))]
                if isinstance(row, list) and row:
                    row[int(rng.integers(len(row)))] = one(
                        rng, (-1, 99, 2**63, 10**400, 0, 1e308, float("nan"), True, None, "x", 1.5)
                    )
            else:
                rows.clear()
        return Faulty(f"vertices and triangles {str(table)[:200]}", {}, table)
    name = one(rng, list(MESHES))
    content, what = damaged(MESHES[name](), rng)
    return Faulty(f"{name}: {what}", {name: content})


def read_mesh_file(faulty: Faulty, folder: Path) -> None:
    if faulty.value is not None:
        ar.forces.Mesh(kind="a", **faulty.value).resolved(ar.ModelBuilder("kg-m-s").units, "mesh")
        surface(faulty.value["vertices"], faulty.value["triangles"], "mesh")
        return
    name = next(iter(faulty.files))
    surface(*read_mesh(str(folder / name), name), name)


def make_sequence(rng: np.random.Generator) -> Faulty:
    """What a peptide is made of, and how it is cut."""
    good: dict[str, Any] = {"sequence": "ACDG", "phi": -57.0, "psi": -47.0, "accept": ()}
    key = one(rng, list(good))
    raw = hostile(rng)
    try:
        good[key] = json.loads(raw)
    except (ValueError, RecursionError):
        good[key] = raw
    return Faulty(f"peptide with {key} = {raw[:60]}", {}, good)


def read_sequence(faulty: Faulty, folder: Path) -> None:
    molecules.perceive(molecules.peptide(**faulty.value))


STRUCTURES = Kind("structures", 15, make_structure, read_structure)
PARTICLES = Kind("particles", 3, make_particles, read_particles, "case.toml")
MESH_FILES = Kind("meshes", 5, make_mesh, read_mesh_file)
SEQUENCES = Kind("sequences", 1, make_sequence, read_sequence)
