"""Compiles leaves to LLVM code, once per machine for the types of their arguments.

Numba compiles every function to machine code in every process, even a function that is only inlined into others.
Instead, this compiler compiles a leaf to LLVM's optimised code and caches it. The code becomes machine code in the
kernels into which it is linked.
"""

import hashlib
import pickle
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba import types
from numba._dynfunc import Environment, make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder, compile_result
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.funcdesc import FunctionDescriptor, PythonFunctionDescriptor
from numba.core.typed_passes import NativeLowering
from numba.core.typing import signature

from articulon.announcements import announce
from articulon.kernel_cache import cache_folder, files_of, ours, sources_of

_DIGEST = hashlib.sha256().digest_size


class LeafLibrary(JITCodeLibrary):
    """LLVM's optimised code of a leaf, to be linked into kernels."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        manager, builder = self._codegen._function_pass_manager()
        for function in module.functions:
            if not function.is_declaration:
                manager.run(function, builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def take(self, code: bytes) -> None:
        """Loads code from the cache."""
        self._final_module = self._shared_module = llvm.parse_bitcode(code)
        self._finalized = True

    def code(self) -> bytes:
        """Code for the cache."""
        return self._get_module_for_linking().as_bitcode()


def _entry(descriptor: Any, library: Any, environment: Any) -> Any:
    """The function by which Numba finds a leaf. Its address is null, because nothing calls it."""
    module = descriptor.lookup_module()
    return make_function(module, descriptor.qualname, "a leaf of kernels", 0, environment, (library,))


@register_pass(mutates_CFG=True, analysis_only=False)
class LeafLowering(NativeLowering):
    """Lowers a leaf to LLVM code."""

    _name = "articulon_leaf_lowering"

    def run_pass(self, state: Any) -> bool:
        """Runs the pass; called by Numba."""
        state.library = LeafLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        entry = _entry(lowered.fndesc, state.library, lowered.env)
        state.targetctx.insert_user_function(entry, lowered.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state["cr"] = lowered._replace(cfunc=entry)
        return True


class LeafCompiler(CompilerBase):
    """Numba's compiler for leaves: it first looks in the cache, and its last stage is LLVM code."""

    def define_pipelines(self) -> list[Any]:
        """The passes of the compiler; called by Numba."""
        manager = PassManager("leaf")
        for part in (
            DefaultPassBuilder.define_untyped_pipeline(self.state),
            DefaultPassBuilder.define_typed_pipeline(self.state),
            DefaultPassBuilder.define_nopython_lowering_pipeline(self.state),
        ):
            manager.passes.extend((LeafLowering if one is NativeLowering else one, why) for one, why in part.passes)
        manager.finalize()
        return [manager]

    def compile_extra(self, function: Any) -> Any:
        """Loads or compiles a leaf; called by Numba."""
        file = self._file(function)
        found = None if file is None else _read(file)
        if found is not None:
            described, code = found
            library = LeafLibrary(self.state.targetctx.codegen(), described["qualname"])
            library.take(code)
            return self._taken(described, library)
        result = super().compile_extra(function)
        if file is not None:
            self._keep(file, result)
        return result

    def _file(self, function: Any) -> Path | None:
        """The cache file of a leaf for these argument types; None if two different leaves might get the same file."""
        state = self.state
        if not ours(function) or function.__closure__:
            return None
        if any(isinstance(one, types.Dispatcher) for one in _parts(state.args)):
            return None
        named = function.__module__, function.__qualname__, function.__code__.co_firstlineno
        what = *named, getattr(function, "replaced", ""), tuple(state.args), state.return_type, _flags_text(state.flags)
        key = hashlib.sha256("\n".join(map(str, what)).encode()).hexdigest()[:32]
        return cache_folder() / sources_of(files_of(function)) / "leaves" / key

    def _taken(self, described: dict[str, Any], library: LeafLibrary) -> CompileResult:
        """Numba's compile result for a leaf from the cache."""
        state, descriptor = self.state, PythonFunctionDescriptor.__new__(PythonFunctionDescriptor)
        for name, value in described.items():
            setattr(descriptor, name, value)
        descriptor.argtypes, descriptor.typemap, descriptor.calltypes = tuple(state.args), None, None
        entry = _entry(descriptor, library, Environment({}))
        state.targetctx.insert_user_function(entry, descriptor, [library])
        return compile_result(
            typing_context=state.typingctx,
            target_context=state.targetctx,
            entry_point=entry,
            signature=signature(descriptor.restype, *state.args),
            objectmode=False,
            lifted=(),
            fndesc=descriptor,
            library=library,
            reload_init=[],
        )

    def _keep(self, file: Path, result: CompileResult) -> None:
        """Writes a leaf to the cache, unless the leaf needs LAPACK or data of this process in addition to its code."""
        library, descriptor = result.library, result.fndesc
        library._ensure_finalized()
        if library._reload_init or library.has_dynamic_globals or result.environment.consts:
            return
        if tuple(descriptor.argtypes) != tuple(self.state.args) or descriptor.global_dict is not None:
            return
        kept = pickle.dumps(({name: getattr(descriptor, name) for name in _DESCRIBED}, library.code()))
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{secrets.token_hex(4)}")
        part.write_bytes(hashlib.sha256(kept).digest() + kept)
        part.replace(file)  # so that a cache file is complete or absent


_DESCRIBED = sorted({*FunctionDescriptor.__slots__} - {"typemap", "calltypes", "argtypes"})
"""Parts of Numba's description of a function that are cached. The caller knows the argument types."""


def _flags_text(flags: Any) -> str:
    """Numba's flags as text that is equal in all processes, although the order of a set is not."""
    sorted_flags = {name: sorted(one.flags) if hasattr(one, "flags") else one for name, one in flags.values().items()}
    return ", ".join(f"{name}={one}" for name, one in sorted(sorted_flags.items()))


def _parts(found: Any) -> Iterator[Any]:
    """The given types, and the types within tuples among them."""
    for one in found:
        yield one
        if isinstance(one, types.BaseTuple):
            yield from _parts(one.types)


def _read(file: Path) -> Any:
    """Description and code of a leaf from the cache; None if the file does not exist or is damaged. A damaged file
    causes a message."""
    try:
        kept = file.read_bytes()
    except FileNotFoundError:
        return None
    digest, kept = kept[:_DIGEST], kept[_DIGEST:]
    if hashlib.sha256(kept).digest() == digest:
        return pickle.loads(kept)
    announce(f"{file}: the cached code of a part of kernels is damaged; compiling it again")
    return None
