"""``convert_program``: the graph of a StableHLO program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.jax.library import flushes_subnormals
from workbench.frontends.jax.names import distinct
from workbench.frontends.stablehlo.content import module_of
from workbench.frontends.stablehlo.library import MAGIC, ir, parse
from workbench.frontends.stablehlo.lower import StableLowering
from workbench.frontends.stablehlo.places import SourcePlaces, names_of
from workbench.frontends.stablehlo.types import type_of
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.collector import collector_paused
from workbench.ir.graph import Graph
from workbench.ir.node import Source

_FIX = "give a program with one function @main, as jax.jit(f).lower(x).as_text() writes it."


def convert_program(data: bytes, outputs: Sequence[str] | None, name: str, file: str) -> Graph:
    """The graph of a program: MLIR text or bytecode, or a blob of ``jax.export``.

    ``while``, ``if`` and ``case`` become frames and branches, calls regions; arithmetic, comparisons and moves of
    elements become workbench nodes, by the rules for JAX's primitives, and any other operation is computed by XLA.
    Inputs are named after the locations of the arguments, else ``arg0``, ``arg1``; results after ``jax.result_info``.

    Raises LoadError (``no-jax``, ``bad-stablehlo``, ``unsupported-stablehlo-type``, ``too-large``, ``no-such-output``)
    and one UnknownOpError with every operation that cannot be evaluated and its line.
    """
    program = module_of(data)
    module = parse(program)
    functions = {_symbol(f): f.operation for f in module.body.operations if f.operation.name == "func.func"}
    entry = _entry(functions)
    text = "" if program.startswith(MAGIC) else program.decode("utf-8")
    builder = GraphBuilder(name)
    builder.flushes_subnormals = flushes_subnormals()
    lowering = StableLowering(builder, functions, SourcePlaces(file, text))
    builder.source = lowering.places.source(functions[entry], Source(file, 0))
    parameters = list(functions[entry].regions[0].blocks[0].arguments)
    names = distinct(names_of(parameters, "arg"))
    types = [type_of(p) for p in parameters]
    with collector_paused():
        arguments = [builder.placeholder(n, t.dtype, t.shape) for n, t in zip(names, types, strict=True)]
        results = lowering.call(entry, arguments)
        lowering.finish()
        labels = distinct(_result_names(functions[entry], len(results)))
        made = dict(zip(labels, results, strict=True))
        return builder.build(_wanted(made, outputs))


def _symbol(function: Any) -> str:
    name: str = ir().StringAttr(function.operation.attributes["sym_name"]).value
    return name


def _entry(functions: dict[str, Any]) -> str:
    defined = {n: f for n, f in functions.items() if len(f.regions[0].blocks)}
    if "main" in defined:
        return "main"
    public = [n for n, f in defined.items() if "private" not in _visibility(f)]
    if len(public) == 1:
        return public[0]
    has = ", ".join(f"@{n}" for n in public[:8]) or "none"
    raise LoadError(
        f"The program has no function @main and {len(public)} that are public ({has}).", slug="bad-stablehlo", fix=_FIX
    )


def _visibility(function: Any) -> str:
    return str(function.attributes["sym_visibility"]) if "sym_visibility" in function.attributes else ""


def _text(attributes: Any, name: str) -> str:
    """A string attribute that no verifier checks; "" for any other attribute."""
    try:
        found = attributes[name] if name in attributes else None
    except TypeError:  # an attribute without a class in jaxlib, such as a location
        return ""
    return found.value if isinstance(found, ir().StringAttr) else ""


def _result_names(function: Any, count: int) -> list[str]:
    mlir, names = ir(), []
    if "res_attrs" in function.attributes:
        for attrs in mlir.ArrayAttr(function.attributes["res_attrs"]):
            names.append(_text(mlir.DictAttr(attrs), "jax.result_info"))
    names = (names + [""] * count)[:count]
    if count == 1:
        return [names[0].removesuffix("[0]") if names[0].startswith("result") else "result"]
    return [(n if n.startswith("result") else f"result{n}") if n else f"result[{k}]" for k, n in enumerate(names)]


def _wanted(made: dict[str, Any], outputs: Sequence[str] | None) -> dict[str, Any]:
    if outputs is None:
        return made
    names = [outputs] if isinstance(outputs, str) else list(outputs)
    missing = [n for n in names if n not in made]
    if missing:
        raise LoadError(
            f"The program has no output {missing[0]!r}.", slug="no-such-output", fix=f"one of {', '.join(made)}."
        )
    return {n: made[n] for n in names}
