"""What a pass is bound to, as compiled code finds it in memory."""

from __future__ import annotations

import numpy as np
import pytest

from articulon.passes import Program, _part, pass_at, pass_of, run_at

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
    words = np.frombuffer(_part(array)[1], dtype=np.int64).tolist()
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


@pass_at
def add_square(number, found):
    found[0] += number * number


@pass_of
def add_squares(count, one):
    for k in range(count[0]):
        run_at(one, 0, k)


def test_a_pass_runs_the_passes_of_a_program_for_one_number_after_another() -> None:
    """They are compiled with it, and follow when they are bound anew."""
    first, second, count = np.zeros(1), np.zeros(1), np.array([4])
    inner = add_square.bind(first)
    program = Program([add_squares.bind(count, Program([inner]))])
    program()
    assert first[0] == 0 + 1 + 4 + 9
    inner.rebind(second)
    count[0] = 3
    program()
    assert (first[0], second[0]) == (14.0, 0 + 1 + 4)


def test_a_pass_that_is_bound_to_another_program_runs_that() -> None:
    """Which is compiled then, for the program that holds the pass has been."""
    first, second = np.zeros(1), np.zeros(2)[::2]
    outer = add_squares.bind(np.array([4]), Program([add_square.bind(first)]))
    program = Program([outer])
    program()
    outer.rebind(np.array([3]), Program([add_square.bind(second)]))
    program()
    assert (first[0], second[0]) == (14.0, 5.0)
