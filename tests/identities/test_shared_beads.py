"""How trees are shared out among ranks."""

import numpy as np

from articulon.integrate.shared_beads import shares_of


def test_shares_are_of_about_as_many_links_and_of_at_least_one_tree() -> None:
    """Parts differ from equal ones by less than the longest tree, as long as there are enough trees."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        lengths = rng.integers(1, 30, rng.integers(1, 12))
        start = np.concatenate([[0], np.cumsum(lengths)])
        ranks = int(rng.integers(1, lengths.size + 1))
        share = shares_of(start, ranks)
        assert share[0] == 0 and share[-1] == lengths.size and (np.diff(share) >= 1).all()
        if ranks * lengths.max() <= start[-1]:
            assert np.abs(np.diff(start[share]) - start[-1] / ranks).max() < lengths.max()


def test_equal_chains_are_shared_out_equally() -> None:
    assert np.array_equal(shares_of(np.arange(0, 33 * 16, 16), 4), [0, 8, 16, 24, 32])
