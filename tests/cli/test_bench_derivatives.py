"""The benchmark of derivatives says what it has measured. No timing is checked."""

import io
import json

import pytest
from rich.console import Console

import benchmarks
from benchmarks import derivatives


@pytest.mark.slow  # Pinocchio's matrices, and kernels
def test_derivatives_are_measured_and_shown():
    figures = derivatives.measure(sizes=(3, 8), long=(4, 16), steps=(3,), seconds=0.1)
    json.dumps(figures, allow_nan=False)
    assert max(figures["difference"]) < 1e-12
    out = io.StringIO()
    derivatives.show(figures, Console(file=out, width=120))
    assert "Products of the derivatives with vectors" in out.getvalue()
    assert "Friction-implicit steps with drag and springs or pairs" in out.getvalue()
    assert "derivatives" in benchmarks.BENCHMARKS
