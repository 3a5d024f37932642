"""A jaxpr -> nodes.

jaxpr ─► each equation ─┬─ while, scan, cond    ► frames and branches   (control/)
                        ├─ jit and other calls  ► a region              (calls.py)
                        ├─ known to a rule      ► compiled nodes        (rules/)
                        └─ any other primitive  ► a foreign node        (foreign/)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from workbench.errors import UnknownOpError
from workbench.frontends.jax.calls import held, lower_call
from workbench.frontends.jax.control import CONTROL
from workbench.frontends.jax.foreign.codec import NotEncodable, encode
from workbench.frontends.jax.foreign.entry import PREFIX
from workbench.frontends.jax.foreign.primitives import met, refusal
from workbench.frontends.jax.library import is_literal, library, name_stack, opened
from workbench.frontends.jax.notes import note_of
from workbench.frontends.jax.rules import RULES
from workbench.frontends.jax.source_lines import place_of, source_of
from workbench.frontends.jax.types import key_name, type_of
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ir.node import Ref
from workbench.ir.types import numpy_dtype


class JaxLowering:
    """The graph under construction. ``flags`` maps integers that were converted from bools to the bools; with
    ``rounded`` functions may differ from JAX's by one unit in the last place.
    """

    def __init__(self, builder: GraphBuilder, rounded: bool = False) -> None:
        self.builder, self.rounded = builder, rounded
        self.flags: dict[Ref, Value] = {}
        self.x64 = bool(library().config.jax_enable_x64)
        self.refused: dict[str, str] = {}
        #: notes on the effect of vmap, for users of the graph
        self.notes: dict[str, None] = {}
        #: (indices of the enclosing equations and their parts, variable) -> its value in the graph
        self.labels: dict[tuple[Any, ...], Ref] = {}
        self._key: tuple[Any, ...] = ()
        #: for each loop, branch or outermost level: the last node with an effect, and the nodes that no other waits for
        #: yet
        self._last: dict[Any, str] = {}
        self._loose: dict[Any, list[str]] = {}
        self._numbers: dict[Any, dict[Any, Value]] = {}
        #: numbers computed from constants alone; None for values known only at run time
        self.known: dict[Ref, np.ndarray | None] = {}

    # -- jaxprs ------------------------------------------------------------------------------------------------------
    def closed(self, closed: Any, arguments: Sequence[Value], part: int | str | None = None) -> list[Value]:
        """The results of a jaxpr for these arguments; ``part`` identifies the jaxpr within its equation."""
        outer = self._key
        key = outer if part is None else (*outer, part)
        jaxpr, consts = opened(closed)
        values: dict[Any, Value] = dict(zip(jaxpr.invars, arguments, strict=True))
        for variable, const in zip(jaxpr.constvars, consts, strict=True):
            values[variable] = self.constant(const, variable.aval)

        def value(atom: Any) -> Value:
            return self.constant(atom.val, atom.aval) if is_literal(atom) else values[atom]

        source = self.builder.source
        for number, equation in enumerate(jaxpr.eqns):
            self.builder.source, self._key = source_of(equation, source), (*key, number)
            try:
                made = self.equation(equation, [value(a) for a in equation.invars])
            finally:
                self.builder.source, self._key = source, outer
            values.update(zip(equation.outvars, made, strict=True))
        self.labels.update(((*key, variable), found.ref) for variable, found in values.items())
        return [value(a) for a in jaxpr.outvars]

    def constant(self, value: Any, aval: Any) -> Value:
        """A constant; scalars are shared by the equations of one loop, branch or call."""
        if key_name(aval):
            value = library().random.key_data(value)
        if np.ndim(value):
            return self.builder.constant(np.asarray(value))
        number = np.asarray(value, dtype=numpy_dtype(type_of(aval).dtype))
        here = self.builder.context
        known = self._numbers.setdefault((here, here.region), {})
        key = number.dtype, number.tobytes()
        if key not in known:
            known[key] = self.builder.constant(number)
        return known[key]

    def equation(self, equation: Any, values: Sequence[Value]) -> list[Value]:
        name = equation.primitive.name
        if (reason := refusal(equation)) is not None:
            return self._refuse(equation, reason)
        if (note := note_of(equation, self.builder.source)) is not None:
            self.notes[note] = None
        if name in CONTROL:
            return CONTROL[name](self, equation, values)
        if held(equation) is not None:
            return lower_call(self, equation, values)
        wanted = [type_of(v.aval) for v in equation.outvars]
        rule = RULES.get(name)
        if rule is not None and not any(key_name(v.aval) for v in (*equation.invars, *equation.outvars)):
            made = rule(self, equation, values)
            if made is not None and [m.type for m in made] == wanted:
                return made
        return self._foreign(equation, values, wanted)

    def by_jax(self, equation: Any, values: Sequence[Value]) -> list[Value]:
        """The results of an equation, computed by JAX."""
        return self._foreign(equation, values, [type_of(v.aval) for v in equation.outvars])

    # -- nodes -------------------------------------------------------------------------------------------------------
    def op(self, equation: Any, op: str, *inputs: Any, **attrs: Any) -> Value:
        """A workbench node for an equation, named after its primitive."""
        made: Value = self.builder.op(op, *inputs, name=self.label(equation, equation.primitive.name), **attrs)
        return made

    def label(self, equation: Any, name: str) -> str:
        """A name prefixed with the enclosing loops, branches, calls and named scopes."""
        scope = "" if equation is None else name_stack(equation)
        parts = [p for p in (self.builder.context.prefix, scope, name) if p]
        return "/".join(parts)

    @contextmanager
    def region(self, name: str) -> Iterator[None]:
        """Nodes created inside form a separate region. Values from outside must have been brought in."""
        context = self.builder.context
        before = context.prefix, context.region
        context._open(self.builder.reserve(self.label(None, name)))
        try:
            yield
        finally:
            context.prefix, context.region = before

    def _foreign(self, equation: Any, values: Sequence[Value], wanted: Sequence[Any]) -> list[Value]:
        name = equation.primitive.name
        if (reason := met(equation.primitive)) is not None:
            return self._refuse(equation, reason)
        try:
            params = encode(equation.params)
        except NotEncodable as error:
            return self._refuse(equation, f"its parameters hold a {error}")
        effects = bool(equation.effects)
        here = self.builder.context
        after = [self._last[here]] if effects and here in self._last else []
        node = self.builder.add_node(
            f"{PREFIX}:{name}",
            [self.builder.context.adopt(v).ref for v in values],
            control=after or (() if values else self.builder.context.pivot()),
            name=self.label(equation, name),
            params=params,
            types=tuple(wanted),
            given=tuple(key_name(v.aval) for v in equation.invars),
            made=tuple(key_name(v.aval) for v in equation.outvars),
            x64=self.x64,
            effects=effects,
        )
        if effects:
            self.wait_for(node)
        return [Value(self.builder, Ref(node, k), t, here) for k, t in enumerate(wanted)]

    def wait_for(self, node: str) -> None:
        """Make the results of this loop, branch or function wait for a node with an effect, because nodes that no
        result depends on do not run.
        """
        here = self.builder.context
        self._last[here] = node
        self._loose.setdefault(here, []).append(node)

    def after_effects(self, results: Sequence[Value]) -> list[Value]:
        """The results, delayed until the effects so far of this loop, branch or outermost level."""
        loose = tuple(self._loose.pop(self.builder.context, ()))
        if not loose:
            return list(results)
        name = self.label(None, "effects")
        return [self.builder.op("Identity", r, control=loose, name=name) for r in results]

    def mark(self) -> Value:
        """A value that fires after the effects of this loop body or branch."""
        return self.after_effects([self.builder.constant(np.asarray(True))])[0]

    def _refuse(self, equation: Any, reason: str) -> list[Value]:
        """Collect the equations that cannot be evaluated for one error at the end; their results are placeholders."""
        self.refused.setdefault(f"{equation.primitive.name} at {place_of(equation, self.builder.source)}", reason)
        types = [type_of(v.aval) for v in equation.outvars]
        return [self.builder.constant(np.zeros(t.shape, t.dtype)) for t in types]

    def finish(self) -> None:
        if self.refused:
            shown = "; ".join(f"{where}: {why}" for where, why in list(self.refused.items())[:8])
            raise UnknownOpError(
                f"The JAX function has primitives that are not evaluated here. {shown}.",
                fix="leave them out of the function, or debug the part before them.",
            )
