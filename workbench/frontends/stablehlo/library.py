"""The MLIR bindings of jaxlib: the only module that parses programs, and builds and prints modules of one op.

Source: https://openxla.org/stablehlo/spec and, for the bindings, https://mlir.llvm.org/docs/Bindings/Python/.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
from typing import Any

import numpy as np

from workbench.errors import LoadError, UnknownOpError
from workbench.frontends.jax.library import internal, version
from workbench.frontends.jax.library import library as jax_library
from workbench.frontends.protobuf.wire import MAX_BYTES
from workbench.frontends.stablehlo.checked import FIX, checked, words
from workbench.frontends.stablehlo.reader_process import MAX_DEPTH
from workbench.libraries import install

MAGIC = b"ML\xefR"
#: digests of texts that were printed here from checked modules
_MADE_HERE: set[bytes] = set()


#: first supported version of JAX; the MLIR bindings of 0.7 end the process on some constants
OLDEST = (0, 9)


def library() -> Any:
    """The module jax; LoadError with the way to install it if it is missing or its bindings are too old."""
    try:
        jax = jax_library()
        if version(jax) < OLDEST:
            raise LoadError(
                f"StableHLO programs are read through jaxlib 0.9 or later; JAX {jax.__version__} is installed.",
                slug="jax-version",
                fix='pip install "jax>=0.9,<0.12".',
            )
        return jax
    except LoadError as error:
        if error.slug != "no-jax":
            raise
        raise LoadError(
            "The program is StableHLO, which is read through jaxlib, and JAX is not installed.",
            slug="no-jax",
            fix=f"{install('jax')}.",
        ) from error


def ir() -> Any:
    library()
    return importlib.import_module("jaxlib.mlir.ir")


def dialect(name: str) -> Any:
    library()
    return importlib.import_module(f"jaxlib.mlir.dialects.{name}")


@functools.cache
def context() -> Any:
    """The context of all modules here, with only the dialects that JAX uses."""
    library()
    return internal("interpreters.mlir").make_ir_context()


def parse(data: bytes) -> Any:
    """The module of a text, of bytecode or of a portable artifact, parsed from the bytecode that another process wrote
    of it.
    """
    if len(data) > MAX_BYTES:
        raise LoadError(f"The program has more than {MAX_BYTES:,} bytes.", slug="too-large", fix="give a smaller one.")
    mlir = ir()
    if not data.startswith(MAGIC):
        _check_depth(data)
    if hashlib.sha256(data).digest() not in _MADE_HERE:
        data = checked(data)
    try:
        return mlir.Module.parse(data if data.startswith(MAGIC) else data.decode("utf-8"), context())
    except Exception as error:  # jaxlib's error class, and ValueError
        said = str(error).encode("utf-8", "replace")
        raise LoadError(f"jaxlib cannot read the program: {words(said)}.", slug="bad-stablehlo", fix=FIX) from error


def _check_depth(data: bytes) -> None:
    codes = np.frombuffer(data, np.uint8)
    opened, closed = np.isin(codes, list(b"{([")), np.isin(codes, list(b"})]"))
    depth = np.cumsum(opened.astype(np.int32) - closed.astype(np.int32))
    if depth.size and int(depth.max()) > MAX_DEPTH:
        raise LoadError(
            f"The program has brackets nested more than {MAX_DEPTH} deep.", slug="bad-stablehlo", fix="simplify it."
        )


def one_op(operation: Any, functions: list[Any]) -> str:
    """The text of a module whose ``main`` is one operation with its operands as arguments; ``functions`` are the
    functions that its regions call.
    """
    mlir, func = ir(), dialect("func")
    results = [r.type for r in operation.results]
    with context(), mlir.Location.unknown():
        module = mlir.Module.create()
        with mlir.InsertionPoint(module.body):
            for function in functions:
                copy = function.clone()
                copy.attributes["sym_visibility"] = mlir.StringAttr.get("private")
            kind = mlir.FunctionType.get([v.type for v in operation.operands], results)
            block = func.FuncOp("main", kind).add_entry_block()
            with mlir.InsertionPoint(block):
                made = operation.clone()
                for k, argument in enumerate(block.arguments):
                    made.operands[k] = argument
                func.ReturnOp(list(made.results))
        if not module.operation.verify():
            raise UnknownOpError(f"The operation {operation.name!r} does not stand alone.", fix=FIX)
        text: str = module.operation.get_asm(enable_debug_info=False)
        _MADE_HERE.add(hashlib.sha256(text.encode()).digest())
        return text


def nested(operation: Any) -> list[Any]:
    """The operations in the regions of an operation, at any depth."""
    found: list[Any] = []
    waiting = [operation]
    while waiting:
        for region in waiting.pop().regions:
            for block in region.blocks:
                inside = [o.operation for o in block.operations]
                found += inside
                waiting += inside
    return found


def captures(operation: Any) -> bool:
    """True if the regions of an operation use values defined outside them."""
    inside = nested(operation)
    own: set[Any] = {r for o in inside for r in o.results}
    for holder in (operation, *inside):
        own |= {a for region in holder.regions for block in region.blocks for a in block.arguments}
    return any(value not in own for inner in inside for value in inner.operands)
