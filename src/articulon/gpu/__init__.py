"""Batches of states of one model, on a GPU or on Warp's CPU device; see docs/gpu.md.

Warp is loaded when a name is first accessed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from articulon.gpu.tree_batch import accelerations as accelerations
    from articulon.gpu.tree_batch import body_poses as body_poses
    from articulon.gpu.tree_batch import forward_dynamics as forward_dynamics
    from articulon.gpu.tree_ensemble import Ensemble as Ensemble

_HOME_OF = {
    "Ensemble": "articulon.gpu.tree_ensemble",
    "accelerations": "articulon.gpu.tree_batch",
    "body_poses": "articulon.gpu.tree_batch",
    "forward_dynamics": "articulon.gpu.tree_batch",
}

__all__ = ["Ensemble", "accelerations", "body_poses", "forward_dynamics"]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
