"""Trees that are bound by loops and drives. Closing loops ignores all other trees, such as water around a protein."""

import numpy as np

from articulon.dynamics import mass_matrix
from articulon.dynamics.mass_matrix import mass_matrix as fill_mass_matrix
from articulon.model import Forest, Model, kernel_tables, workspace
from articulon.model.joints import BY_KIND


def bound_links(model: Model) -> np.ndarray:
    """Return whether each link belongs to a tree with a loop or a drive, shape (links,)."""
    loops, tree = model.loops, model.tree_of_link
    ends = np.concatenate([loops.link_a, loops.link_b])
    found = np.zeros(model.trees, dtype=bool)
    found[tree[ends[ends >= 0]]] = True
    return found[tree]


def bound_speeds(model: Model) -> np.ndarray:
    """Return a mask of the speeds of trees with a loop or a drive, shape (nu,); all speeds if bodies are flexible."""
    if model.forest.flexible is not None:
        return np.ones(model.nu, dtype=bool)
    found = np.zeros(model.nu, dtype=bool)
    links = np.flatnonzero(bound_links(model))
    found[_columns(kernel_tables(model).forest, links, speeds=True)] = True
    return found


def bound_mass_matrix(model: Model, q: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """Return the mass matrix of the given speeds of bound trees, shape (n, n). These speeds are decoupled from all
    others."""
    if speeds.all():
        return np.asarray(mass_matrix(model, q))
    links = np.flatnonzero(bound_links(model))
    part, of_q = _trees(kernel_tables(model).forest, links)
    n = int(speeds.sum())
    result = np.zeros((n, n))
    fill_mass_matrix(part, q[of_q], workspace(part), np.zeros((links.size, 21)), result)
    # The speeds of a tree are in the order of its links, and the speeds of the model are in the order of its bodies.
    order = np.argsort(_columns(kernel_tables(model).forest, links, speeds=True), kind="stable")
    return result[np.ix_(order, order)]


def _columns(forest: Forest, links: np.ndarray, speeds: bool) -> np.ndarray:
    """Return the indices of the coordinates or speeds of the given links among all coordinates or speeds."""
    starts = (forest.u_start if speeds else forest.q_start)[links].tolist()
    joints = [BY_KIND[kind] for kind in forest.kind[links].tolist()]
    found = [start + np.arange(joint.nu if speeds else joint.nq) for start, joint in zip(starts, joints, strict=True)]
    return np.concatenate(found or [np.zeros(0)]).astype(np.int64)


def _trees(forest: Forest, links: np.ndarray) -> tuple[Forest, np.ndarray]:
    """Return whole trees as a separate forest with consecutive coordinates, and the original indices of the
    coordinates."""
    place = np.full(forest.parent.size + 1, -1)
    place[links] = np.arange(links.size)
    sizes = [(BY_KIND[kind].nq, BY_KIND[kind].nu) for kind in forest.kind[links].tolist()]
    starts = np.cumsum([(0, 0), *sizes], axis=0)[:-1]
    parent = place[forest.parent[links]]
    own = {"parent": parent, "q_start": starts[:, 0].copy(), "u_start": starts[:, 1].copy()}
    columns = {name: getattr(forest, name)[links] for name in Forest._fields if name not in ("tree", "flexible", *own)}
    tree = np.append(np.flatnonzero(parent < 0), links.size)
    return Forest(tree=tree, **own, **columns), _columns(forest, links, speeds=False)
