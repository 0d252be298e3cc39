"""Write a model out as the section ``[model]`` of a case file."""

from __future__ import annotations

from typing import Any

from articulon.cases.builders.explicit_joints import GROUND
from articulon.forces.user_functions import CODE_KEYS
from articulon.model import Model
from articulon.model.atoms import Atoms
from articulon.model.joints.axis import AxisJoint
from articulon.model.placed_bodies import joint_frame


def obstacle(model: Model) -> str | None:
    """Return the reason why a model cannot be written to a case file; None if it can."""
    if model.modes:
        return f"body '{model.names[next(iter(model.modes))]}' is flexible, and its modes are not in a file"
    driven = [drive.name for drive in model.drives if drive.function is not None]
    if driven:
        return f"the motion of '{driven[0]}' is a Python function"
    if GROUND in model.names:
        return f"a body is called '{GROUND}'"
    for k, force in enumerate(model.forces):
        given = next((key for key in CODE_KEYS if callable(getattr(force, key, None))), None)
        if given is not None:
            return f"forces[{k}].{given} is a Python function; name one in a file, as 'file.py:name'"
    return None


def written_out(model: Model) -> dict[str, Any]:
    """Return the bodies, sites, loops and drives of a model as tables, in its units."""
    return {
        "builder": "explicit",
        "bodies": [_body(model, body) for body in range(model.bodies)],
        "sites": _sites(model),
        **({} if model.atoms is None else {"atoms": _atoms(model, model.atoms)}),
        "loops": [
            {
                "name": loop.name,
                **_joint(loop.joint),
                "parent": _name(model, loop.parent),
                "child": _name(model, loop.child),
                "position": loop.position.tolist(),
                "rotation": loop.rotation.tolist(),
                "child_position": loop.child_position.tolist(),
                "child_rotation": loop.child_rotation.tolist(),
            }
            for loop in model.loop_joints
        ],
        "drives": [
            {
                "name": drive.name,
                "body": model.names[drive.body],
                "component": drive.component,
                "times": drive.times.tolist(),
                "values": drive.values.tolist(),
            }
            for drive in model.drives
            if drive.function is None
        ],
    }


def _atoms(model: Model, atoms: Atoms) -> dict[str, Any]:
    return {
        "sites": atoms.site.tolist(),
        "names": list(atoms.names),
        "elements": list(atoms.elements),
        "masses": atoms.masses.tolist(),
        "residues": atoms.residue.tolist(),
        "residue_names": list(atoms.residue_names),
        "residue_numbers": list(atoms.residue_numbers),
        "insertions": list(atoms.insertions),
        "chains": list(atoms.chains),
        "residue_kinds": list(atoms.residue_kinds),
        "bonds": atoms.bonds.tolist(),
        "torsions": [
            {"body": model.names[body], "name": name, "atoms": [int(a) for a in atoms.dihedrals[body]]}
            for body, name in atoms.torsions.items()
        ],
    }


def _name(model: Model, body: int) -> str:
    return GROUND if body < 0 else model.names[body]


def _joint(joint: Any) -> dict[str, Any]:
    axis = {"axis": [float(a) for a in joint.axis]} if isinstance(joint, AxisJoint) else {}
    return {"joint": type(joint).__name__.lower(), **axis}


def _body(model: Model, body: int) -> dict[str, Any]:
    xx, xy, xz, yy, yz, zz = model.inertias[body].tolist()
    position, rotation = joint_frame(model, body)
    found = {
        "name": model.names[body],
        "mass": float(model.masses[body]),
        "inertia": [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]],
        "com": model.centres[body].tolist(),
        "parent": _name(model, int(model.parents[body])),
        **_joint(model.joints[body]),
        "position": position.tolist(),
        "rotation": rotation.tolist(),
    }
    if model.joint_names[body] != model.names[body]:
        found["joint_name"] = model.joint_names[body]
    if model.armature is not None and model.joints[body].nu:
        start = int(model.forest.u_start[int(model.link[body])])
        found["armature"] = model.armature[start : start + model.joints[body].nu].tolist()
    if model.shapes[body]:
        found["shape"] = [shape.model_dump() for shape in model.shapes[body]]
    joint, link = model.joints[body], int(model.link[body])
    if joint.nq:
        q, u = int(model.forest.q_start[link]), int(model.forest.u_start[link])
        found["q"] = model.q0[q : q + joint.nq].tolist()
        found["u"] = model.u0[u : u + joint.nu].tolist()
    return found


def _sites(model: Model) -> list[dict[str, Any]]:
    sites = model.sites
    return [
        {
            "body": _name(model, int(sites.body[k])),
            "position": sites.position[k].tolist(),
            "charge": float(sites.charge[k]),
            "kind": sites.kinds[int(sites.kind[k])],
            "group": sites.groups[int(sites.group[k])],
            "radius": float(sites.radius[k]),
        }
        for k in range(sites.body.size)
    ]
