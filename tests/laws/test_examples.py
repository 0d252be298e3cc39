"""The examples in the documentation run, and give what they say."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import articulon

ROOT = Path(__file__).parents[2]
PACKAGE = Path(articulon.__file__).parent

WITH_EXAMPLES = sorted(
    ".".join(("articulon", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_give_what_they_say(name):
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.attempted > 0
    assert results.failed == 0


def test_the_model_of_the_readme_falls_as_a_whole():
    """From rest in uniform gravity every body of a free tree falls alike, so no joint moves."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {}
    exec(blocks[0], names)
    expected = np.zeros(9)
    expected[2] = -9.81e-6
    # Rounding of the weight, 2^-53 in each of some ten operations, becomes angular acceleration by the arm's mass times
    # its lever over its least inertia, 0.2 · 0.05 / 2e-5 = 500 per unit of length.
    np.testing.assert_allclose(names["udot"], expected, rtol=0, atol=10 * 2**-53 * 500 * 9.81e-6)
