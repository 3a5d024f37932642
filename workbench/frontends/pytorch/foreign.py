"""Calls without a rule here: PyTorch computes them if it is installed, node by node."""

from __future__ import annotations

import importlib.util
import json
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.frontends.pytorch.aten import PREFIX
from workbench.frontends.pytorch.numbers import Number
from workbench.frontends.pytorch.reading.arguments import Dtype, Other
from workbench.ir.builder.value import Value
from workbench.ir.node import Ref

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering

_ATEN = re.compile(r"aten\.[A-Za-z_][A-Za-z0-9_]*\.\w+", re.ASCII)
_DRAWS = re.compile(
    r"aten\._?(rand\w*|native_dropout|\w*dropout|bernoulli|multinomial|normal\w*|uniform|exponential|poisson|rrelu\w*|cauchy|geometric|log_normal|binomial)\."
)
#: an option that the tensors of a node need not follow
_LEFT_OUT = ("device", "layout", "memory_format", "pin_memory", "non_blocking", "out")


def written_by(lowering: TorchLowering, target: str, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """The tensors that a call of another library writes to, by its schema."""
    found = _own_op(lowering, target)
    if found is None:
        return []
    pairs = zip(found._schema.arguments, args, strict=False)
    named = {a.name: v for a, v in pairs} | dict(kwargs)
    writes = [a.name for a in found._schema.arguments if a.alias_info is not None and a.alias_info.is_write]
    return [named[n] for n in writes if named.get(n) is not None]


def _own_op(lowering: TorchLowering, target: str) -> Any:
    """The op of a library other than ATen and PyTorch's own namespaces; None if the program is not trusted."""
    if not lowering.trusted or target.startswith(("aten.", "higher_order.", "_operator.", "math.", "torch.")):
        return None
    import torch

    namespace, _, rest = target.partition(".")
    packet, _, overload = rest.partition(".")
    found = getattr(getattr(getattr(torch.ops, namespace, None), packet, None), overload or "default", None)
    return found if isinstance(found, torch._ops.OpOverload) else None


def foreign_call(
    lowering: TorchLowering, target: str, args: Sequence[Any], kwargs: dict[str, Any], written: Sequence[Value] = ()
) -> list[Any] | str:
    """The results of a call as a node that PyTorch computes; otherwise the reason why not, as the end of a sentence."""
    types = [m.type for m in lowering.metas] + [w.type for w in written]
    if not _ATEN.fullmatch(target) and _own_op(lowering, target) is None:
        return "it is of a library of ops that is not known here"
    if _DRAWS.match(target):
        return "it draws random numbers of a distribution that is not drawn here; export it after module.eval()"
    if not types:
        return "it has no rule here, and gives no tensor"
    if importlib.util.find_spec("torch") is None:
        return "it has no rule here; PyTorch, which is not installed, would compute it"
    operands: list[Value] = []

    def described(value: Any) -> Any:
        if isinstance(value, list):
            return [described(v) for v in value]
        if isinstance(value, (Value, Number)):
            whole = value if isinstance(value, Value) else value.value
            operands.append(whole)
            if isinstance(value, Number):
                return {"input": len(operands) - 1}
            return {"array": len(operands) - 1}
        if isinstance(value, float):
            return value if math.isfinite(value) else {"number": str(value)}
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        return {"constant": value.name} if isinstance(value, Dtype) else None if isinstance(value, Other) else value

    given = [described(a) for a in args]
    named = {k: described(v) for k, v in kwargs.items() if k not in _LEFT_OUT}
    places = [next(k for k, v in enumerate(operands) if v.ref == w.ref) for w in written]
    call = {
        "args": given,
        "kwargs": named,
        "whole": True,
        "storages": len(operands),
        "written": places,
        "grad": False,
        "outs": [*(["array", k] for k in range(len(types) - len(written))), *(["operand", k] for k in places)],
    }
    here = lowering.builder.context
    node = lowering.builder.add_node(
        f"{PREFIX}:{target}",
        [here.adopt(v).ref for v in operands],
        control=() if operands else here.pivot(),
        name=lowering.label,
        types=tuple(types),
        call=json.dumps(call),
        record="",
        key=0,
    )
    return [Value(lowering.builder, Ref(node, k), t, here) for k, t in enumerate(types)]
