"""Contiguous storage of chosen values of a vector, in vector instructions that the compiler does not generate from
plain loops."""

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features

_WORD = ir.IntType(32)


def _has_instruction() -> bool:
    """Whether the target processor has a single AVX-512 instruction that packs chosen values."""
    chosen = numba.config.CPU_FEATURES
    features = get_host_cpu_features() if chosen is None else chosen
    return "+avx512vl" in features.split(",")


def store_chosen(builder: Any, values: Any, chosen: Any, out: Any) -> None:
    """Write the chosen values of a vector contiguously to ``out``; entries up to the length of the vector are
    overwritten.

    A store of the chosen values alone (``llvm.masked.compressstore``) takes a hundred cycles on processors that run it
    as microcode, such as AMD's Zen 4; on processors without such an instruction, it becomes a branch for each value.
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
