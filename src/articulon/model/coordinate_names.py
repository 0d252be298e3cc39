"""Names of the coordinates and speeds of a model."""

from articulon.model.atoms import torsion_names
from articulon.model.joints import BY_KIND
from articulon.model.model import Model

Named = list[tuple[str, str]]
RATE = ".rate"
"""Suffix of the name of the speed of a torsion or a mode."""


def coordinate_names(model: Model) -> tuple[Named, Named]:
    """Name and dimension of every coordinate and of every speed, in their order.

    The dihedral angle of a molecule is named after its torsion, ``phi:A:TRP2``, and its speed ``phi:A:TRP2.rate``.
    Other coordinates are named after body and component, ``core.x``; modal coordinates are numbered, ``blade.mode1``.
    """
    forest = model.forest
    torsions = {} if model.atoms is None else torsion_names(model.atoms)
    q: Named = [("", "")] * model.nq
    u: Named = [("", "")] * model.nu
    for i, kind in enumerate(forest.kind.tolist()):
        head = int(model.head[i])
        joint, torsion = BY_KIND[kind], torsions.get(head)
        for k, (name, dimension) in enumerate(joint.coordinates, start=int(forest.q_start[i])):
            q[k] = f"{model.names[head]}.{name}" if torsion is None else torsion, dimension
        for k, (name, dimension) in enumerate(joint.speeds, start=int(forest.u_start[i])):
            u[k] = f"{model.names[head]}.{name}" if torsion is None else torsion + RATE, dimension
    for body, shapes in model.modes.items():
        link, carried_by = int(model.link[body]), model.joints[body]
        q_start, u_start = int(forest.q_start[link]) + carried_by.nq, int(forest.u_start[link]) + carried_by.nu
        for j in range(shapes.stiffness.shape[0]):
            name = f"{model.names[body]}.mode{j + 1}"
            q[q_start + j], u[u_start + j] = (name, "length"), (name + RATE, "velocity")
    return q, u
