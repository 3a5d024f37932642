"""Writes the instances of a type profile as lines of C++ macros, one file for each unit of ``typed/units/``.

Called by generate.py. Standard library only.
"""

from __future__ import annotations

from workbench.kernels.types.ops import KINDS, OPS, compute_type
from workbench.kernels.types.profiles import Instance

#: units that are compiled for every instruction set, and the one that is compiled once
VECTOR_UNITS = ("arithmetic", "chains", "comparison", "bits", "casts", "narrow", "complex", "reductions", "products")
PLAIN_UNITS = ("functions",)

CPP = {
    **{f"{u}int{n}": f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64)},
    "bool": "bool",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "complex64",
    "complex128": "complex128",
}
_NARROW = {"float16", "bfloat16"}
_FAMILY_UNITS = {
    "comparison": "comparison",
    "logical": "comparison",
    "bitwise": "bits",
    "select": "bits",
    "unary": "bits",
    "cast": "casts",
    "reduction": "reductions",
    "index_reduction": "reductions",
    "cumulative": "reductions",
    "accumulation": "products",
}
_CUMULATED = {"cumsum": "Add", "cumprod": "Multiply", "cummin": "Minimum", "cummax": "Maximum"}


def key(instance: Instance) -> str:
    """The name under which the module finds a kernel: op, inputs and output, with spaces between."""
    op, inputs, output = instance
    return " ".join((op, *inputs, output))


def unit(instance: Instance) -> str:
    """The unit that holds an instance."""
    op, inputs, output = instance
    row = OPS[op]
    if not row.vector:
        return "functions"
    if row.family in ("reduction", "index_reduction", "cumulative", "accumulation"):
        return _FAMILY_UNITS[row.family]
    if any(KINDS[t] == "c" for t in (*inputs, output)):
        return "complex"
    if _NARROW & {*inputs, output}:
        return "narrow"
    return _FAMILY_UNITS.get(row.family, "chains" if row.inputs == 3 else "arithmetic")


def line(instance: Instance) -> str:
    """The macro line of an instance."""
    op, inputs, output = instance
    row = OPS[op]
    computed = compute_type(row, inputs, output)
    name, c, out = f'"{key(instance)}"', CPP[computed], CPP[output]
    types = [CPP[t] for t in inputs]
    if row.family == "comparison" and "uint64" in inputs and {KINDS[t] for t in inputs} == {"u", "i"}:
        c = "__int128"  # NumPy compares signed with unsigned integers exactly
    if row.family == "reduction":
        if op in ("any", "all"):
            return f"WB_TRUTH({name}, {types[0]}, {'true' if op == 'all' else 'false'})"
        return f"WB_REDUCE({name}, {op.capitalize()}Of, {types[0]}, {out}, {c})"
    if row.family == "index_reduction":
        return f"WB_POSITION({name}, {types[0]}, {out}, {'true' if op == 'argmax' else 'false'})"
    if row.family == "cumulative":
        return f"WB_CUMULATE({name}, {_CUMULATED[op]}, {types[0]}, {out}, {c})"
    if row.family == "accumulation":
        return f"WB_PRODUCT({name}, {types[0]}, {out}, {c})"
    if row.family == "select":
        return f"WB_SELECT({name}, {', '.join(types)}, {out}, {c})"
    if row.inputs == 3:
        return f"WB_TERNARY({name}, ({row.functor}), {out}, {c})"
    macro = "WB_UNARY" if row.inputs == 1 else "WB_BINARY"
    return f"{macro}({name}, {row.functor}, {', '.join(types)}, {out}, {c})"


def render(chosen: list[Instance], active: tuple[str, ...]) -> dict[str, str]:
    """Unit -> its lines. Kernels of strings are NumPy's own: only their names are kept."""
    lines: dict[str, list[str]] = {name: [] for name in (*VECTOR_UNITS, *PLAIN_UNITS)}
    for instance in chosen:
        if "string" in (*instance[1], instance[2]):
            lines["functions"].append(f'WB_STRING("{key(instance)}")')
            continue
        if OPS[instance[0]].family == "accumulation" and len(set(instance[1])) > 1:
            continue
        lines[unit(instance)].append(line(instance))
    lines["products"] += [f'WB_STATISTICS("{t}", {CPP[t]})' for t in active if KINDS[t] in "biuf"]
    return {name: "".join(f"{text}\n" for text in rows) for name, rows in lines.items()}
