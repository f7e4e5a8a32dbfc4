"""How kernels are compiled, and an instruction Numba does not offer by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic

from cotherm.engines.cpu.cache import KernelCache
from cotherm.engines.threads import hold_at_fork

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

hold_at_fork(global_compiler_lock)


def compiled(function: Kernel) -> Kernel:
    """Compile without the interpreter lock, so that kernels run in plain Python threads.

    Those compile faster than Numba's ``parallel=True`` and do without its threading layers. Contraction (fused
    multiply-add) is the only license taken with arithmetic: sums keep their order.
    """
    return _compiled(function, {"contract"})


def compiled_in_any_order(function: Kernel) -> Kernel:
    """The same, with sums in any order, which makes several at a time of one: for kernels that do little else."""
    return _compiled(function, {"contract", "reassoc"})


def _compiled(function: Kernel, licenses: set[str]) -> Kernel:
    with _switched_on():
        kernel = numba.njit(nogil=True, fastmath=licenses, error_model="numpy")(function)
    # What ``cache=True`` would do, with a cache that may be damaged; where no place can be written to, there is none.
    with suppress(RuntimeError):
        kernel._cache = KernelCache(function)
    if numba.config.DISABLE_JIT:
        kernel.compile = _switched_on()(kernel.compile)
    return cast(Kernel, kernel)


@contextmanager
def _switched_on() -> Iterator[None]:
    """Compile even if NUMBA_DISABLE_JIT is set, by which people debug code of their own: ours runs compiled alone."""
    with global_compiler_lock:
        given, numba.config.DISABLE_JIT = numba.config.DISABLE_JIT, 0
        try:
            yield
        finally:
            numba.config.DISABLE_JIT = given


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_typing: Any, array: Any, row: Any) -> Any:
    """Ask the processor to bring ``array[row]`` (row unsigned) near, for a read that comes a little later."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = row_address(context, builder, signature.args[0], arguments[0], arguments[1])
        byte_pointer = address.type
        flag = ir.IntType(32)
        signature_type = ir.FunctionType(ir.VoidType(), [byte_pointer, flag, flag, flag])
        instruction = cgutils.get_or_insert_function(builder.module, signature_type, "llvm.prefetch.p0i8")
        read, keep_in_all_caches, data = (ir.Constant(flag, v) for v in (0, 3, 1))
        builder.call(instruction, [address, read, keep_in_all_caches, data])
        return context.get_dummy_value()

    return types.void(array, row), codegen


def row_address(context: Any, builder: Any, array_type: Any, array: Any, row: Any) -> Any:
    """The address of array[row], as a pointer to bytes; row is unsigned."""
    view = context.make_array(array_type)(context, builder, array)
    stride = builder.extract_value(view.strides, 0)
    number = row if row.type == stride.type else builder.zext(row, stride.type)
    return builder.gep(builder.bitcast(view.data, ir.IntType(8).as_pointer()), [builder.mul(stride, number)])
