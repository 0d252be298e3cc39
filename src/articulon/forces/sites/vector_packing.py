"""Writing those values of a vector that have been chosen, one behind the other: what no plain loop compiles to."""

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features

_WORD = ir.IntType(32)


def _has_instruction() -> bool:
    """Whether the processor that kernels are compiled for does this in one instruction, of AVX-512."""
    chosen = numba.config.CPU_FEATURES
    features = get_host_cpu_features() if chosen is None else chosen
    return "+avx512vl" in features.split(",")


def store_chosen(builder: Any, values: Any, chosen: Any, out: Any) -> None:
    """Writes the chosen values of a vector to where ``out`` points; as many more places as it is long are written over.

    A store of the chosen ones alone (``llvm.masked.compressstore``) takes a hundred cycles on processors that have
    microcode for it, as AMD's Zen 4; where there is no instruction it becomes a branch for each value.
    """
    kind, lanes = values.type, values.type.count
    if _has_instruction():
        signature, bits = ir.FunctionType(kind, [kind, chosen.type, kind]), kind.element.width
        name = f"llvm.experimental.vector.compress.v{lanes}i{bits}"
        compress = cgutils.get_or_insert_function(builder.module, signature, name)
        together = builder.call(compress, [values, chosen, ir.Constant(kind, ir.Undefined)])
        builder.store(together, builder.bitcast(out, kind.as_pointer()), align=bits // 8)
        return
    for m in range(lanes):
        lane = ir.Constant(_WORD, m)
        builder.store(builder.extract_element(values, lane), out)
        step = builder.zext(builder.extract_element(chosen, lane), ir.IntType(64))
        out = builder.gep(out, [step])
