"""Joints: one file each, holding the public class and the leaf functions that the tree recursions call.

A joint connects a body to its parent. The joint frame is fixed in the parent; the body's frame is its moving side.
Each file defines

``place(axis, q, k, frame)``
    the body's rotation in the world and the displacement of its origin in the joint frame;
``velocity(axis, u, k, frame, body)``
    angular and linear velocity of the body relative to the joint frame, world axes;
``column(axis, k, frame, body)``
    the k-th column of the motion subspace, angular and linear, world axes;
``eliminate(...)``
    the articulated inertia and bias force seen by the parent (Featherstone 2008, equations 7.21 to 7.25);
``accelerate(...)``
    the joint's accelerations and the body's (7.26 to 7.28).

``dynamics/joints.py`` dispatches on the kind: a new joint is one file here and its lines there.
"""

from articulon.model.joints.base import FREE, PRISMATIC, REVOLUTE, SPHERICAL, WELD, XYZ, Joint
from articulon.model.joints.free import Free
from articulon.model.joints.prismatic import Prismatic
from articulon.model.joints.revolute import Revolute
from articulon.model.joints.spherical import Spherical
from articulon.model.joints.weld import Weld
from articulon.model.joints.xyz import Xyz

BY_KIND: dict[int, type[Joint]] = {joint.kind: joint for joint in (Weld, Revolute, Prismatic, Spherical, Xyz, Free)}
BY_NAME: dict[str, type[Joint]] = {joint.__name__.lower(): joint for joint in BY_KIND.values()}

__all__ = [
    "BY_KIND",
    "BY_NAME",
    "FREE",
    "PRISMATIC",
    "REVOLUTE",
    "SPHERICAL",
    "WELD",
    "XYZ",
    "Free",
    "Joint",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Weld",
    "Xyz",
]
