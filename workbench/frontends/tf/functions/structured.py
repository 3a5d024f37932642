"""TensorFlow 2's While, If and Case -> the TensorFlow 1 frame ops, under the name of the node that they replace.

::

    while/Enter_i -> while/Merge_i -> while/cond/... -> while/LoopCond -> while/Switch_i -> while/Identity_i
                          ^                                                                  |
                          +---- while/NextIteration_i <---- while/body/... <-----------------+     while/Exit_i

    if/Switch_i -> if/then/..., if/else/... -> if/Merge_i
    case/Switch_i -> case/branch_0/... else (case/Switch_i_1 -> case/branch_1/... else ...) -> case/Merge_i

A loop variable that the body returns unchanged becomes a loop invariant. Source of the semantics:
https://www.tensorflow.org/api_docs/python/tf/raw_ops/While, /If and /Case.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.tf.functions.function_library import FunctionDef
from workbench.frontends.tf.functions.function_scope import Body, InlinedBody
from workbench.frontends.tf.functions.inline import Inliner, Rule
from workbench.frontends.tf.graphdef import NodeDef, TensorName
from workbench.frontends.tf.tensor_proto import DTypeAttr, Function

BOOL = DTypeAttr(10)


def _kept(function: FunctionDef) -> list[bool]:
    """For each argument, whether the function returns it unchanged in the same position."""

    def origin(text: str) -> str:
        for _ in range(64):
            inner = function.nodes.get(text.partition(":")[0])
            if inner is None or inner.op != "Identity" or len(inner.inputs) != 1:
                break
            text = inner.inputs[0]
        return text.partition(":")[0] if text.partition(":")[0] not in function.nodes else text

    if any(a.number_attr or a.type_list_attr for a in (*function.inputs, *function.outputs)):
        return [False] * len(function.inputs)
    pairs = zip(function.inputs, function.outputs, strict=False)
    return [origin(function.results.get(out.name, "")) == arg.name for arg, out in pairs]


def lower_while(inliner: Inliner, node: NodeDef, callers: tuple[str, ...]) -> None:
    name, region = node.name, node.name
    cond_call, body_call = node.attrs.get("cond"), node.attrs.get("body")
    cond, body = inliner.function(cond_call, node, "cond"), inliner.function(body_call, node, "body")
    assert isinstance(cond_call, Function) and isinstance(body_call, Function)
    types = node.attrs.get("T")
    if not node.inputs:
        raise LoadError(
            f"{node.op} {name!r} has no loop variables.", slug="function-arity", node=name, fix="give it at least one."
        )
    kept = _kept(body)
    kept += [False] * (len(node.inputs) - len(kept))
    if all(kept[: len(node.inputs)]):
        kept[0] = False  # a frame needs one variable
    parallel = node.attrs.get("parallel_iterations", 10)

    def emit(op: str, inputs: Sequence[TensorName], label: str, control: Sequence[str] = (), **attrs) -> TensorName:
        return inliner.emit(op, inputs, f"{name}/{label}", region, control=control, **attrs)

    heads: list[TensorName] = []
    for i, given in enumerate(node.inputs):
        declared = types[i] if isinstance(types, list) and i < len(types) else None
        entered = emit(
            "Enter",
            [given],
            f"Enter_{i}",
            node.control,
            T=declared,
            frame_name=name.encode(),
            is_constant=kept[i],
            parallel_iterations=parallel,
        )
        heads.append(entered if kept[i] else emit("Merge", [entered, TensorName(f"{name}/?", 0)], f"Merge_{i}"))
    first = kept.index(False)
    test_place = InlinedBody(
        f"{name}/cond",
        region,
        (heads[first].node,),
        (),
        frozenset(h for h, k in zip(heads, kept, strict=False) if not k),
        callers,
    )
    test = inliner.body(cond, cond_call, heads, test_place, node, (types, None))
    if len(test.results) != 1:
        raise LoadError(
            f"The condition {cond.name!r} of {name!r} gives {len(test.results)} values; one is needed.",
            slug="function-arity",
            node=name,
            fix="write the GraphDef again with TensorFlow.",
        )
    going = emit("LoopCond", [_truth(inliner, test.results[0], cond, f"{name}/cond", region)], "LoopCond", test.effects)
    alive, leaving = list(heads), {}
    for i, head in enumerate(heads):
        if not kept[i]:
            switch = emit("Switch", [head, going], f"Switch_{i}")
            leaving[i] = switch
            alive[i] = emit("Identity", [TensorName(switch.node, 1)], f"Identity_{i}")
    guarded = frozenset(a for a, k in zip(alive, kept, strict=False) if not k)
    place = InlinedBody(f"{name}/body", region, (alive[first].node,), (), guarded, callers)
    new = inliner.body(body, body_call, alive, place, node, (types, types))
    if len(new.results) != len(heads):
        raise LoadError(
            f"The body {body.name!r} of {name!r} gives {len(new.results)} values for {len(heads)} loop variables.",
            slug="function-arity",
            node=name,
            fix="write the GraphDef again with TensorFlow.",
        )
    results: list[TensorName] = []
    for i, value in enumerate(new.results):
        if kept[i]:
            results += inliner.after([node.inputs[i]], node.control, f"{name}/kept_{i}", region)
            continue
        if value in alive and value not in guarded:  # an invariant, which is alive when the loop ends
            value = emit("Identity", [value], f"Next_{i}", place.pivot)
        back = emit("NextIteration", [value], f"NextIteration_{i}", new.effects if i == first else ())
        merge = inliner.nodes[heads[i].node]
        inliner.nodes[merge.name] = NodeDef(merge.name, "Merge", (merge.inputs[0], back), (), {}, region=region)
        results.append(emit("Exit", [leaving[i]], f"Exit_{i}"))
        if i < len(body.inputs):
            inliner.public.setdefault(f"{name}/{body.inputs[i].name}", heads[i])
    inliner.replaced(name, results, [r.node for r, k in zip(results, kept, strict=False) if not k])


def _truth(inliner: Inliner, pred: TensorName, function: FunctionDef, label: str, region: str) -> TensorName:
    out = function.outputs[0]
    if out.dtype is not None and out.dtype.number % 100 == BOOL.number:
        return pred
    return inliner.emit("ToBool", [pred], f"{label}/truth", region)


class _Branch:
    """A decision: a Switch for every input, and for each side a pivot that is alive if the side is taken."""

    def __init__(
        self, inliner: Inliner, node: NodeDef, tag: str, inputs: Sequence[TensorName], pred: TensorName
    ) -> None:
        name, declared = node.name, node.attrs.get("Tin")
        types = [*declared] if isinstance(declared, list) else []
        types += [None] * (len(inputs) - len(types))
        self.inliner, self.name, self.tag = inliner, name, tag
        self.switches = [
            inliner.emit("Switch", [t, pred], f"{name}/Switch_{i}{tag}", name, T=types[i]) for i, t in enumerate(inputs)
        ]
        self.decision = inliner.emit("Switch", [pred, pred], f"{name}/switch_pred{tag}", name)

    def side(self, taken: int, label: str) -> tuple[list[TensorName], TensorName]:
        """(inputs, pivot) of the false (0) or true (1) side."""
        pivot = self.inliner.emit(
            "Identity", [TensorName(self.decision.node, taken)], f"{self.name}/pivot_{label}{self.tag}", self.name
        )
        return [TensorName(s.node, taken) for s in self.switches], pivot


def lower_if(inliner: Inliner, node: NodeDef, callers: tuple[str, ...]) -> None:
    if not node.inputs:
        raise LoadError(
            f"{node.op} {node.name!r} has no condition.",
            slug="function-arity",
            node=node.name,
            fix="write the GraphDef again with TensorFlow.",
        )
    pred, inputs = node.inputs[0], node.inputs[1:]
    declared = node.attrs.get("Tcond")
    if not (isinstance(declared, DTypeAttr) and declared.number % 100 == BOOL.number):
        pred = inliner.emit("ToBool", [pred], f"{node.name}/truth", node.name)
    if node.control:
        pred = inliner.emit("Identity", [pred], f"{node.name}/pred", node.name, control=node.control)
    branch = _Branch(inliner, node, "", inputs, pred)
    sides = []
    for taken, attr in ((0, "else_branch"), (1, "then_branch")):
        label = attr.removesuffix("_branch")
        values, pivot = branch.side(taken, label)
        sides.append((_side(inliner, node, node.attrs.get(attr), attr, label, values, pivot, callers), pivot))
    _merge(inliner, node, sides, "")


def lower_case(inliner: Inliner, node: NodeDef, callers: tuple[str, ...]) -> None:
    """Case as a chain of decisions; an index out of range selects the last branch, as in TensorFlow."""
    branches = node.attrs.get("branches") or []
    if not node.inputs or not branches:
        raise LoadError(
            f"{node.op} {node.name!r} has no {'branches' if node.inputs else 'index'}.",
            slug="function-arity",
            node=node.name,
            fix="write the GraphDef again with TensorFlow.",
        )
    name, index, inputs = node.name, node.inputs[0], list(node.inputs[1:])
    if node.control or len(branches) == 1:
        index = inliner.emit("Identity", [index], f"{name}/index", name, control=node.control)
    if len(branches) == 1:  # no decision: every value waits for the index
        inputs = list(inliner.after(inputs, (index.node,), f"{name}/input", name))
    open_sides: list[tuple[Body, TensorName]] = []
    pivot = index
    for k, called in enumerate(branches[:-1]):
        tag = f"_{k}" if k else ""
        number = inliner.emit(
            "Const",
            [],
            f"{name}/number{tag}",
            name,
            control=[index.node],
            value=np.array(k, np.int32),
            dtype=DTypeAttr(3),
        )
        pred = inliner.emit("Equal", [index, number], f"{name}/is_branch_{k}", name, T=DTypeAttr(3))
        branch = _Branch(inliner, node, tag, [*inputs, index], pred)
        values, here = branch.side(1, f"branch_{k}")
        body = _side(inliner, node, called, "branches", f"branch_{k}", values[:-1], here, callers)
        open_sides.append((body, here))
        rest, pivot = branch.side(0, f"after_{k}")
        inputs, index = rest[:-1], rest[-1]
        index = inliner.emit("Identity", [index], f"{name}/index_{k + 1}", name)
    last = f"branch_{len(branches) - 1}"
    side = (_side(inliner, node, branches[-1], "branches", last, inputs, pivot, callers), pivot)
    if len(branches) == 1:
        inliner.replaced(name, side[0].results, (*side[0].effects, *(t.node for t in side[0].results)))
        return
    for k in reversed(range(len(open_sides))):
        tag = f"_{k}" if k else ""
        if k:
            side = _joined(inliner, node, [side, open_sides[k]], tag)
        else:
            _merge(inliner, node, [side, open_sides[0]], "")


def _side(
    inliner: Inliner,
    node: NodeDef,
    called: object,
    attr: str,
    label: str,
    values: Sequence[TensorName],
    pivot: TensorName,
    callers: tuple[str, ...],
) -> Body:
    function = inliner.function(called, node, attr)
    assert isinstance(called, Function)
    place = InlinedBody(f"{node.name}/{label}", node.name, (pivot.node,), (), frozenset(values), callers)
    return inliner.body(function, called, values, place, node, (node.attrs.get("Tin"), node.attrs.get("Tout")))


def _joined(
    inliner: Inliner, node: NodeDef, sides: Sequence[tuple[Body, TensorName]], tag: str
) -> tuple[Body, TensorName]:
    """Merged results of both sides of a decision, and a token that fires after the effects of the taken side."""
    (one, off), (two, on) = sides
    if len(one.results) != len(two.results):
        raise LoadError(
            f"The branches of {node.op} {node.name!r} give {len(one.results)} and {len(two.results)} values.",
            slug="function-arity",
            node=node.name,
            fix="write the GraphDef again with TensorFlow.",
        )
    values = [
        inliner.after(body.results, body.effects, f"{node.name}/result_{k}{tag}", node.name)
        for k, body in enumerate((one, two))
    ]
    results = [
        inliner.emit("Merge", pair, f"{node.name}/Merge_{i}{tag}", node.name)
        for i, pair in enumerate(zip(*values, strict=True))
    ]
    ends = [
        inliner.emit("Identity", [pivot], f"{node.name}/done_{k}{tag}", node.name, control=body.effects)
        for k, (body, pivot) in enumerate(((one, off), (two, on)))
    ]
    token = inliner.emit("Merge", ends, f"{node.name}/done{tag}", node.name)
    effects = (token.node,) if one.effects or two.effects else ()
    return Body(tuple(results), effects), token


def _merge(inliner: Inliner, node: NodeDef, sides: Sequence[tuple[Body, TensorName]], tag: str) -> None:
    body, token = _joined(inliner, node, sides, tag)
    done = (*body.effects, *(t.node for t in body.results)) or (token.node,)
    inliner.replaced(node.name, body.results, done)


#: op -> the rule that lowers it; passed to :class:`Inliner`
STRUCTURED: dict[str, Rule] = {
    "While": lower_while,
    "StatelessWhile": lower_while,
    "If": lower_if,
    "StatelessIf": lower_if,
    "Case": lower_case,
    "StatelessCase": lower_case,
}
