"""How kernels are compiled, and two instructions Numba does not offer by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(function: Kernel) -> Kernel:
    """Compile without the interpreter lock, so that kernels run in plain Python threads.

    Threads of our own, instead of Numba's ``parallel=True``, compile ten times faster and have none of the
    trouble of its threading layers with fork and with callers that use threads themselves. Contraction (fused
    multiply-add) is the only licence taken with arithmetic: sums keep their order.
    """
    decorate = numba.njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
    return cast(Kernel, decorate(function))


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def registers(_typing: Any, width: Any) -> Any:
    """A pointer to ``width`` float64 on the stack, ``width`` known when compiling.

    An accumulator made by np.empty lives on the heap, where every addition is a load and a store; this one ends up
    in vector registers (1.5 to 2 times faster for the sparse product at eight columns).
    """
    if not isinstance(width, types.IntegerLiteral):
        return None

    def codegen(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        size = context.get_constant(types.intp, width.literal_value)
        return cgutils.alloca_once(builder, context.get_value_type(types.float64), size=size)

    return types.CPointer(types.float64)(width), codegen


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_typing: Any, array: Any, row: Any) -> Any:
    """Ask the processor to bring ``array[row]`` (row unsigned) near, for a read that comes a little later."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        stride = builder.extract_value(view.strides, 0)
        offset = builder.mul(stride, builder.zext(arguments[1], stride.type))
        byte_pointer = ir.IntType(8).as_pointer()
        address = builder.gep(builder.bitcast(view.data, byte_pointer), [offset])
        flag = ir.IntType(32)
        signature_type = ir.FunctionType(ir.VoidType(), [byte_pointer, flag, flag, flag])
        instruction = cgutils.get_or_insert_function(builder.module, signature_type, "llvm.prefetch.p0i8")
        read, keep_in_all_caches, data = (ir.Constant(flag, v) for v in (0, 3, 1))
        builder.call(instruction, [address, read, keep_in_all_caches, data])
        return context.get_dummy_value()

    return types.void(array, row), codegen
