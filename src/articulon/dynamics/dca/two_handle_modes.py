"""Where the modes of flexible bodies enter the blocks of the divide-and-conquer algorithm; for rigid bodies, nothing.

``flexible/flexible_blocks.py`` says what these do where there are modes.
"""

from articulon.dynamics.by_forest import by_forest


@by_forest
def begin_block_modes(forest, tree, node, ws, moving, scratch):
    """Sets out with the inertias and biases of the flexible bodies of a block alone."""


@by_forest
def add_swept(forest, ws, i, n, f):
    """The bias of link i with the velocity products of its deformation."""
    return n, f


@by_forest
def condense_block_modes(forest, node, tau, ws, i, spine, K, T, C, scratch, masked):
    """K, T and C when the modes of link i have been eliminated, but for those locked where there can be any."""
    return K, T, C


@by_forest
def load_block_modes(forest, ws, i, spine, K, T, scratch):
    """What node i carries enters the modes of its body."""


@by_forest
def push_block_modes(forest, ws, i, n, f, rate):
    """A bias at node i enters the modes of its body, whose biases are in ``rate`` (nu,)."""


@by_forest
def follow_block_modes(forest, ws, i, speeds, aw, av):
    """The acceleration of node i with that of the modes, which are in ``speeds`` (nu,)."""
    return aw, av


@by_forest
def accelerate_block_modes(forest, ws, i, rate, aw, av, pw, pv, scratch, speeds, reaction, masked):
    """Writes the accelerations of the modes of link i, which has the given one, with the wrench (pw, pv) on the tip."""


@by_forest
def begin_block_correction(forest, tree, node, rate):
    """Sets out without biases of modes in ``rate`` (nu,)."""


@by_forest
def condense_block_correction(forest, ws, i, n, f, rate, drift, spine, scratch, reaction, masked):
    """The bias of link i when its modes have been eliminated; adds to the tip's ``drift`` (6,) on the spine."""
    return n, f


@by_forest
def keep_modes(forest, i, rate, laden):
    """Forgets what is in ``rate`` (nu,) of the modes of link i where the block is not laden."""


@by_forest
def add_modes(forest, i, change, udot):
    """Adds the change (nu,) of the modes of link i to ``udot`` (nu,)."""
