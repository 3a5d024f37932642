"""Machine code for long loops of numbers, compiled by LLVM if the package llvmlite is installed (extra ``llvm``)."""

from workbench.plan.native.compile import NativeLoops, compile_loops

__all__ = ["NativeLoops", "compile_loops"]
