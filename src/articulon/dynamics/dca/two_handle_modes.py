"""Hooks for the modes of flexible bodies in the blocks of the divide-and-conquer algorithm; they do nothing for rigid
bodies.

``flexible/flexible_blocks.py`` has the versions with modes.
"""

from articulon.dynamics.by_forest import by_forest


@by_forest
def begin_block_modes(forest, tree, node, ws, moving, scratch):
    """Starts with the inertias and biases of the block's flexible bodies, without those of the links that they
    carry."""


@by_forest
def add_swept(forest, ws, i, n, f):
    """Adds the velocity products of the deformation to the bias of link i."""
    return n, f


@by_forest
def condense_block_modes(forest, node, tau, ws, i, spine, K, T, C, scratch, masked):
    """K, T and C after elimination of the modes of link i, except locked modes if ``masked``."""
    return K, T, C


@by_forest
def load_block_modes(forest, ws, i, spine, K, T, scratch):
    """Adds what node i carries to the modes of its body."""


@by_forest
def add_bias_to_modes(forest, ws, i, n, f, rate):
    """Adds a bias at node i to the modes of its body, whose biases are in ``rate`` (nu,)."""


@by_forest
def follow_block_modes(forest, ws, i, speeds, aw, av):
    """Acceleration of node i including that of the modes, which are in ``speeds`` (nu,)."""
    return aw, av


@by_forest
def accelerate_block_modes(forest, ws, i, rate, aw, av, pw, pv, scratch, speeds, reaction, masked):
    """Writes the accelerations of the modes of link i, from the link's acceleration and the wrench (pw, pv) on the
    tip."""


@by_forest
def begin_block_correction(forest, tree, node, rate):
    """Starts a correction with zero biases of modes in ``rate`` (nu,)."""


@by_forest
def condense_block_correction(forest, ws, i, n, f, rate, bias_acceleration, spine, scratch, reaction, masked):
    """Bias of link i after elimination of its modes. If link i is on the path from the carrier to the tip (``spine``),
    it also adds to the tip's ``bias_acceleration`` (6,)."""
    return n, f


@by_forest
def keep_modes(forest, i, rate, carries_load):
    """Clears the modes of link i in ``rate`` (nu,) unless the block carries corrected loads (``carries_load``)."""


@by_forest
def add_modes(forest, i, change, udot):
    """Adds the change (nu,) of the modes of link i to ``udot`` (nu,)."""
