"""Divide and conquer with a tree and columns of a test's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from articulon.dynamics.dca.assembly_tree import AssemblyTree
from articulon.dynamics.dca.divide_and_conquer import Columns, assembly_scratch, sweeping
from articulon.dynamics.motion_passes import move_links, place_links
from articulon.dynamics.state_functions import scratch
from articulon.model import kernel_tables
from articulon.passes import Program


def divided(
    model: Any,
    tree: AssemblyTree,
    q: np.ndarray,
    u: np.ndarray,
    columns: Columns,
    gravity: np.ndarray,
    parallel: bool = False,
) -> None:
    """Fills the accelerations of the columns at coordinates and speeds."""
    forest, ws = kernel_tables(model).forest, scratch(model)
    space = assembly_scratch(forest, tree, len(columns.tau))
    swept = sweeping(forest, tree, columns, gravity, np.ones(1), ws, space, parallel)
    Program([place_links.bind(forest, q, ws), move_links.bind(forest, u, ws), swept])()
