"""What a kernel does that is handed one which lists or keeps contacts."""

from typing import Any

from articulon.forces.contact.compiled_passes import LIST
from articulon.kernels import kernel, prepare_for
from articulon.passes import Function


@kernel
def _run(function, system):
    function(system)


def run_list(function: Any, system: Any) -> None:
    """Runs what lists or keeps contacts, which kernels alone call."""
    arguments = Function(function, LIST), system
    prepare_for(_run, arguments)(*arguments)
