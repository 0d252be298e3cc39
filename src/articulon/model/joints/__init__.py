"""Joints: one file each, with the public class and the leaf functions that the tree recursions call.

A joint connects a body to its parent, or closes a loop between two bodies. The joint frame is fixed in the parent; the
body's frame is its moving side. Every module of this folder that defines one subclass of ``Joint`` is a joint. It needs
no entry in any list, and every algorithm, loop constraint, integrator and case file supports it. ``base.py`` documents
the attributes of the class. Besides the class, the file defines these functions, which read and write the model's
coordinates or speeds from index k on:

``place(axis, q, k, frame)``
    the body's rotation in the world (Euler parameters), and the displacement of its origin in the joint frame;
``velocity(axis, u, k, frame, body)``
    angular and linear velocity of the body relative to the joint frame, world axes;
``column(axis, k, frame, body)``
    the k-th column of the motion subspace, angular part and linear part, world axes;
``eliminate(axis, tau, k, frame, body, r, cw, cv, A, H, M, n, f)``
    the articulated inertia and bias force that act on the parent (Featherstone 2008, equations 7.21 to 7.25), as (A, H,
    M, n, f, record) about the parent's origin, which lies at −r. (A, H, M) is the inertia (``algebra/inertia.py``); A
    and M are six numbers each, exactly symmetric. n and f are the bias moment and force; those of the arguments act on
    the body about its own origin. (cw, cv) is the joint's velocity-product acceleration. ``record`` is twelve numbers
    for ``accelerate``;
``accelerate(axis, frame, body, record, i, aw, av, udot, k)``
    writes the joint's accelerations, and returns the angular acceleration of the body and the acceleration of its
    origin (7.26 to 7.28). (aw, av) are these accelerations for u' = 0; row i of ``record`` has the twelve numbers;
``rates(q, k, u, j, qdot)``
    q' of the joint;
``drift(q, k, u, j, time)``
    advances the joint's coordinates by a time at its current speeds.

``frame`` and ``body`` are rotation matrices of the joint frame and of the body in the world; they differ only if the
class is ``framed``. ``dynamics/joints.py`` dispatches on the kind.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from articulon.model.joints.base import FREE, PRISMATIC, REVOLUTE, SPHERICAL, WELD, XYZ, Joint, Row
from articulon.model.joints.free import Free
from articulon.model.joints.prismatic import Prismatic
from articulon.model.joints.revolute import Revolute
from articulon.model.joints.spherical import Spherical
from articulon.model.joints.weld import Weld
from articulon.model.joints.xyz import Xyz


def _discover() -> dict[type[Joint], ModuleType]:
    """Find the joints of this folder and their modules, by kind."""
    found: dict[type[Joint], ModuleType] = {}
    for info in iter_modules(__path__, f"{__name__}."):
        module = import_module(info.name)
        for value in vars(module).values():
            named = isinstance(value, type) and value.__module__ == info.name
            if named and issubclass(value, Joint) and hasattr(value, "kind"):
                found[value] = module
    codes = sorted(joint.kind for joint in found)
    assert codes == list(range(len(codes))), f"the kinds of joints must be 0, 1, 2, ..., got {codes}"
    return dict(sorted(found.items(), key=lambda item: item[0].kind))


MODULES = _discover()
"""Every joint with the module of its leaf functions, in the order of the kinds."""
BY_KIND: dict[int, type[Joint]] = {joint.kind: joint for joint in MODULES}
BY_NAME: dict[str, type[Joint]] = {joint.__name__.lower(): joint for joint in MODULES}
UNBOUND = [joint.kind for joint in MODULES if joint.translations == 3]
"""Kinds of the joints that leave all translations free, and so do not connect bodies to each other."""
SPINLESS = [joint.kind for joint in MODULES if joint.spinless]
"""Kinds of the joints that do not rotate the body about its z axis, so that all masses must lie on this axis."""


def mask(trait: str) -> int:
    """Bit mask in which bit k is set if the joint of kind k has a trait; kernels test such a mask in one
    instruction."""
    return sum(1 << joint.kind for joint in MODULES if getattr(joint, trait)())


def __getattr__(name: str) -> type[Joint]:
    """Return a joint by its class name, including joints added to the folder."""
    for joint in MODULES:
        if joint.__name__ == name:
            return joint
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "BY_KIND",
    "BY_NAME",
    "FREE",
    "MODULES",
    "PRISMATIC",
    "REVOLUTE",
    "SPHERICAL",
    "SPINLESS",
    "UNBOUND",
    "WELD",
    "XYZ",
    "Free",
    "Joint",
    "Prismatic",
    "Revolute",
    "Row",
    "Spherical",
    "Weld",
    "Xyz",
    "mask",
]
