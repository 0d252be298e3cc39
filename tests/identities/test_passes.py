"""What a pass is bound to, as compiled code finds it in memory."""

from __future__ import annotations

import numpy as np
import pytest

from articulon.passes import _part

ARRAYS = {
    "line": np.arange(5.0),
    "view": np.arange(12.0).reshape(3, 4)[1:, 2:],
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "empty": np.zeros((0, 3)),
    "whole numbers": np.arange(4)[::2],
    "truth": np.zeros(3, dtype=bool),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_is_where_numpy_says_it_is(name: str) -> None:
    array = ARRAYS[name]
    words = _part(array)[1]
    found = array.__array_interface__
    assert words[2:5] == [array.size, array.itemsize, found["data"][0]]
    assert words[5:] == [*array.shape, *array.strides]


def test_arrays_of_one_type_have_one_number() -> None:
    """Whoever owns the numbers; read-only ones and other orders are other types to the compiler."""
    line = np.arange(6.0)
    read_only = line.copy()
    read_only.setflags(write=False)
    assert _part(line)[0] == _part(np.zeros(3))[0] == _part(line[1:])[0] == _part(np.frombuffer(bytearray(8)))[0]
    assert len({_part(one)[0] for one in (line, read_only, line[::2], line.reshape(2, 3), line.astype(np.int64))}) == 5
