"""Random loop programs for the soundness of proofs: a seed gives a text of some lines and the graph that it means.

Formulas use the ops that conditions can have: arithmetic, ``%``, ``//``, powers, bits, minima, ``where``, casts,
comparisons, reductions, tables, checked division, draws; dtypes from bool and int8 to bfloat16 and float64.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

import workbench as wb
from workbench.ir.builder.value import Value

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
SIZE = 3
TABLE = np.array([3, 1, 4, 1, 5, 9, 2, 6])


def dtype_of(name: str) -> Any:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


@dataclass
class Program:
    """``variables``: name -> (dtype, start, a number or a list); updates and condition are Python expressions."""

    variables: dict[str, tuple[str, Any]]
    condition: str
    updates: dict[str, str]
    inner: tuple[str, str] | None = None  # condition and update of a loop inside, over j and t
    limit: float | None = None  # an input of the graph that the condition may read
    most: int | None = None

    def __str__(self) -> str:
        lines = [f"{name}: {dtype} = {start}" for name, (dtype, start) in self.variables.items()]
        lines += [f"limit = input {self.limit}"] if self.limit is not None else []
        lines.append(f"while {self.condition}:" + (f"  # at most {self.most}" if self.most is not None else ""))
        if self.inner:
            lines += ["    j, t = 0, 0", f"    while {self.inner[0]}: j, t = j + 1, {self.inner[1]}"]
        return "\n".join([*lines, *(f"    next {name} = {update}" for name, update in self.updates.items())])

    def graph(self) -> tuple[wb.Graph, dict[str, Any]]:
        """The graph and its inputs."""
        with np.errstate(all="ignore"):
            return self._graph()

    def _graph(self) -> tuple[wb.Graph, dict[str, Any]]:
        b = wb.GraphBuilder("program")
        common = self._functions(b)
        if self.limit is not None:
            common["limit"] = b.placeholder("limit")
        start = {name: b.constant(np.array(v, dtype_of(dtype))) for name, (dtype, v) in self.variables.items()}

        def body(**values: Any) -> dict[str, Any]:
            scope = {**common, **values}
            if self.inner:
                condition, update = self.inner
                zero = (b.constant(0), b.constant(0))
                scope["t"] = b.while_loop(
                    lambda j, t: eval(condition, {**scope, "j": j, "t": t}),
                    lambda j, t: (j + 1, common["cast"](eval(update, {**scope, "j": j, "t": t}), "int64")),
                    zero,
                    name="inner",
                )[1]
            new = {name: eval(update, scope) for name, update in self.updates.items()}
            return {name: common["cast"](value, self.variables[name][0]) for name, value in new.items()}

        def condition(**values: Any) -> Any:
            return common["cast"](eval(self.condition, {**common, **values}), "bool")

        out = b.while_loop(condition, body, start, name="loop", max_trips=self.most)
        return b.build(out), {} if self.limit is None else {"limit": self.limit}

    def _functions(self, b: wb.GraphBuilder) -> dict[str, Any]:
        def cast(value: Any, dtype: str) -> Any:
            value = value if isinstance(value, Value) else b.constant(np.asarray(value))
            return value if value.dtype == dtype else value.astype(dtype)

        def draw(seed: int) -> Any:
            return b.random_uniform(b.constant(np.zeros(0, np.int64)), seed=seed, dtype="float64")

        def table(index: Any) -> Any:
            return b.constant(TABLE)[cast(index, "int64")]

        def checked(left: Any, right: Any) -> Any:
            return b.op("floor_divide", cast(left, "int64"), cast(right, "int64"), checked=True)

        return {"np": np, "cast": cast, "draw": draw, "table": table, "checked": checked}


class Draw:
    """Draws the parts of a program; ``scalars`` and ``arrays`` are the names that formulas may read."""

    def __init__(self, r: random.Random) -> None:
        self.r = r
        self.scalars: list[str] = []
        self.arrays: list[str] = []
        self.dtypes: dict[str, str] = {}
        self.random = r.random() < 0.08

    def number(self, dtype: str) -> str:
        r = self.r
        if dtype in FLOATS:
            return str(r.choice([0.0, 0.5, 1.0, 2.0, 3.0, 0.1, 10.0, 100.0, 1e-3, 0.9, 1.5, -1.0, -0.5, 2048.0, 1e30]))
        info = np.iinfo(dtype if dtype != "bool" else "int8")
        near = r.choice([0, 1, 2, 3, 5, 7, 10, 12, 64, 100, 120])
        value = near if r.random() < 0.9 else r.choice([info.max, info.min, info.max - 3, info.min + 2])
        return str(-value if value > 0 > info.min and r.random() < 0.2 else value)

    def update(self, name: str, array: bool) -> str:
        """One of the usual updates of a variable, or any formula."""
        r, dtype = self.r, self.dtypes[name]
        if dtype == "bool":
            return self.truth(1)
        c, k, other = self.number(dtype), r.choice([1, 1, 1, 2, 3, 4, 6]), r.choice(self.scalars)
        plain = [f"{name} + {k}", f"{name} - {k}", f"{name} + {k}", f"{name} * {c}", f"-{name}", f"{name} * 3 + {c}"]
        plain += [f"np.where({self.truth(0)}, {name} + {k}, {name} - {k})", f"np.minimum({name} + {k}, {c})", name]
        plain += [f"np.where({name} < {c}, {name} + {k}, {c})", f"{name} % {max(k, 2)} + {c}", f"{name} + {other}"]
        if dtype in FLOATS:
            rate = r.choice([0.5, 0.9, 0.99, 1.5, -1.0, 0.25])
            plain += [f"{name} * {rate}", f"{name} * {rate} + {c}", f"({name} + {k} / {name}) * 0.5", f"{name} + 0.1"]
            plain += [f"{k} / {name}", f"np.sqrt({name} + {k})", f"{name} * (1.0 - {name}) * 3.7"]
        else:
            plain += [f"{name} // {k + 1}", f"{name} >> 1", f"{name} ^ {k}", f"({name} * 5 + {k}) % 64", f"{name} & 12"]
            plain += [f"table({name} % 8)", f"table({name})", f"checked(100, 12 - {name})", f"{name} << 1"]
        if array:
            plain = [p for p in plain if "checked" not in p]
        return r.choice(plain) if r.random() < 0.7 else self.formula(2, array)

    def formula(self, depth: int, array: bool = False) -> str:
        """Any formula of numbers, of the shape of an array or of a single number."""
        r = self.r
        if array and self.arrays and r.random() < 0.4:
            return r.choice(self.arrays)
        if depth == 0 or r.random() < 0.15:
            if self.random and r.random() < 0.3:
                return f"draw({r.randint(1, 9)})"
            return r.choice(self.scalars) if r.random() < 0.75 else self.number(r.choice(["int8", "float64"]))
        a, c = self.formula(depth - 1, array), self.formula(depth - 1, array)
        kind = r.randrange(9)
        if kind < 4:
            op = r.choice("+ - * + - * % // / **".split())
            return f"({a} {op} {r.choice([2, 3, c]) if op == '**' else c})"
        if kind == 4:
            return f"(cast({a}, 'int64') {r.choice('& | ^ << >>'.split())} cast({c}, 'int64'))"
        if kind == 5:
            return f"np.{r.choice(['minimum', 'maximum', 'fmod'])}({a}, {c})"
        if kind == 6:
            return f"np.where({self.truth(depth - 1)}, {a}, {c})"
        if kind == 7:
            names = "abs negative floor ceil rint sqrt sin exp log tanh sign square".split()
            return f"np.{r.choice(names)}({a})"
        if self.arrays and not array and r.random() < 0.6:
            return f"np.{r.choice(['sum', 'max', 'min', 'mean', 'prod'])}({self.formula(depth - 1, True)})"
        return f"cast({a}, '{r.choice(INTEGERS + FLOATS)}')"

    def truth(self, depth: int) -> str:
        """A formula of one truth value."""
        r = self.r
        name = r.choice(self.scalars)
        if depth <= 0 or r.random() < 0.3:
            if self.dtypes[name] == "bool":
                return r.choice([name, f"~{name}"])
            return f"({name} {r.choice(['<', '<=', '>', '>=', '!=', '!=', '=='])} {self.number(self.dtypes[name])})"
        kind = r.randrange(8)
        if kind < 3:
            return f"({self.truth(depth - 1)} {r.choice('&|^')} {self.truth(depth - 1)})"
        if kind == 3:
            return f"~{self.truth(depth - 1)}"
        if kind == 4 and self.arrays:
            compared = f"{self.formula(1, True)} {r.choice(['<', '>', '!='])} {r.choice(self.arrays)}"
            return f"np.{r.choice(['any', 'all'])}({compared})"
        if kind == 5:
            return f"np.{r.choice(['isnan', 'isfinite', 'isinf'])}(cast({self.formula(1)}, 'float64'))"
        bound = self.formula(1) if r.random() < 0.4 else self.number(r.choice(["int8", "float64"]))
        return f"({self.formula(2)} {r.choice(['<', '<=', '>', '>=', '!='])} {bound})"


def draw_program(r: random.Random) -> Program:
    """A program of one to three variables."""
    d, variables = Draw(r), dict[str, tuple[str, Any]]()
    for name in "xyz"[: r.choice([1, 1, 2, 2, 3])]:
        dtype = r.choice(INTEGERS + FLOATS + ("int64", "float32", "float64", "bool"))
        read: Callable[[str], Any] = float if dtype in FLOATS else int
        variables[name] = dtype, bool(r.random() < 0.5) if dtype == "bool" else read(d.number(dtype))
        d.scalars.append(name)
        d.dtypes[name] = dtype
    if r.random() < 0.25:
        dtype = r.choice(("int8", "int32", "int64", "float16", "float32", "float64"))
        read = float if dtype in FLOATS else int
        variables["v"] = dtype, [read(d.number(dtype)) for _ in range(SIZE)]
        d.dtypes["v"] = dtype
        d.arrays.append("v")
    program = Program(variables, "", {})
    if r.random() < 0.2:
        program.limit = float(r.choice([0, 1, 5, 20, 100]))
        program.condition = f"({r.choice(d.scalars)} {r.choice(['<', '>', '!='])} limit)"
        if r.random() < 0.4:
            program.condition = f"({program.condition} {r.choice('&|')} {d.truth(1)})"
    else:
        program.condition = d.truth(r.choice([0, 0, 1, 1, 2]))
    if r.random() < 0.12:
        stop = r.choice(
            ["3", f"cast({r.choice(d.scalars)}, 'int64') % 5", f"np.abs(cast({d.formula(1)}, 'int64')) % 7"]
        )
        program.inner = f"j < {stop}", r.choice(["t + 1", "t + j", "t ^ j"])
        d.scalars.append("t")
        d.dtypes["t"] = "int64"
    program.updates = {name: d.update(name, name == "v") for name in variables}
    if r.random() < 0.08:
        program.most = r.choice([0, 1, 5, 50, 3000])
    return program
