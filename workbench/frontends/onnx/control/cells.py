"""One time step of LSTM, GRU and RNN in nodes: from a row of X and the state to the next state.

The weights hold the gates in ONNX's order: i, o, f, c of an LSTM; z, r, h of a GRU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.onnx.scope import LoopScope, OnnxScope
from workbench.ir.node import Ref
from workbench.ir.types import numpy_dtype

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode

#: number of gates of each op; then its default activations
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_DEFAULTS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
#: default alpha and beta of the activations that have them, as in onnxruntime, which uses 0 for ThresholdedRelu (the op
#: of this name has 1) and for functions without a default in the standard
_SETTINGS: dict[str, tuple[float, ...]] = {
    "affine": (0.0, 0.0),
    "leakyrelu": (0.01,),
    "thresholdedrelu": (0.0,),
    "scaledtanh": (0.0, 0.0),
    "hardsigmoid": (0.2, 0.5),
    "elu": (1.0,),
}
_PLAIN = {"relu": "relu", "tanh": "tanh", "sigmoid": "sigmoid", "softsign": "softsign", "softplus": "softplus"}

CellAttrs = Mapping[str, Any]
Activation = Callable[["CellMaker", Ref, str], Ref]


class CellMaker:
    """Creates nodes in one scope, with names that begin with the name of the frame; ``dtype`` is that of the state."""

    def __init__(self, lowering: OnnxLowering, scope: OnnxScope, frame: str, region: str, dtype: str) -> None:
        self.lowering, self.scope, self.frame, self.region, self.dtype = lowering, scope, frame, region, dtype

    def __call__(self, op: str, *inputs: Ref, called: str = "", name: str = "", **attrs: Any) -> Ref:
        label = name or f"{self.frame}/{called or op}"
        return self.lowering.emit(self.scope, op, list(inputs), label, region=self.region, **attrs)

    def constant(self, value: Any, called: str) -> Ref:
        return self.lowering.constant(self.scope, value, f"{self.frame}/{called}", self.region)

    def number(self, value: float) -> Ref:
        return self.constant(np.asarray(value, numpy_dtype(self.dtype)), "number")

    def part(self, whole: Ref, at: int, called: str) -> Ref:
        """Row ``at`` of a value."""
        return self("getitem", whole, called=called, index=(("int", at),))

    def brought(self, ref: Ref, label: str) -> Ref:
        """A value from outside the loop, brought into it."""
        return self.scope.bring_in(ref, label) if isinstance(self.scope, LoopScope) else ref

    def several(self, op: str, x: Ref, count: int, **attrs: Any) -> list[Ref]:
        made = self(op, x, **attrs)
        return [Ref(made.node, k) for k in range(count)]


@dataclass(frozen=True, slots=True)
class CellWeights:
    """The weights of one direction. ``bias`` is that of X, and also that of H if ``bias_of_h`` is None; ``peepholes``
    are those of i, o and f; ``rows`` are the parts of ``h`` for z, r and h of a GRU whose reset gate is applied before
    the product.
    """

    x: Ref
    h: Ref
    bias: Ref | None
    bias_of_h: Ref | None
    peepholes: Sequence[Ref]
    rows: Sequence[Ref]

    @classmethod
    def of(cls, make: CellMaker, node: OnnxNode, own: Callable[[int, str], Ref | None], hidden: int) -> CellWeights:
        x, h, both, looks = own(1, "W"), own(2, "R"), own(3, "B"), own(7, "P") if node.op == "LSTM" else None
        assert x is not None and h is not None
        bias = of_h = None
        late = node.op == "GRU" and bool(node.attrs.get("linear_before_reset", 0))
        if both is not None:
            bias, of_h = make.several("split", both, 2, called="B/split", axis=0, num=2)
            if not late:
                bias, of_h = make("add", bias, of_h, called="bias"), None
        peepholes = [] if looks is None else make.several("split", looks, 3, called="P/split", axis=0, num=3)
        rows = make.several("split", h, 3, called="R/split", axis=0, num=3) if node.op == "GRU" and not late else []
        return cls(x, h, bias, of_h, peepholes, rows)


def _product(make: CellMaker, x: Ref, weight: Ref, label: str, bias: Ref | None = None) -> Ref:
    made = make("matmul", x, make.brought(weight, label), called=f"{label}/product", transpose_b=True)
    return made if bias is None else make("add", made, make.brought(bias, f"{label}/bias"), called=f"{label}/biased")


def _sum(make: CellMaker, x: Ref, h: Ref, weights: CellWeights) -> Ref:
    """The products of X and H with the weights of all gates, summed with the bias."""
    return make(
        "add", _product(make, x, weights.x, "W", weights.bias), _product(make, h, weights.h, "R"), called="gates"
    )


def _clipped(make: CellMaker, x: Ref, attrs: Mapping[str, Any]) -> Ref:
    limit = float(attrs.get("clip", 0.0) or 0.0)
    if limit <= 0:
        return x
    low, high = make.number(-limit), make.number(limit)
    return make("minimum", make("maximum", x, low, called="clipped/low"), high, called="clipped")


def unknown_activations(node: OnnxNode) -> list[str]:
    return [n for n in map(str, node.attrs.get("activations", ())) if n.lower() not in {*_PLAIN, *_SETTINGS}]


# -- activations ------------------------------------------------------------------------------------------------------
def activations_of(node: OnnxNode, direction: int) -> list[Activation]:
    """The activations of one direction. Alphas and betas are assigned in order to the activations that take them."""
    defaults = _DEFAULTS[node.op]
    names = [str(n) for n in node.attrs.get("activations", ())] or list(defaults) * (direction + 1)
    left = [list(node.attrs.get(f"activation_{k}", ())) for k in ("alpha", "beta")]
    found: list[Activation] = []
    for name in names:
        settings = _SETTINGS.get(name.lower(), ())
        numbers = [float(g.pop(0)) if g else s for s, g in zip(settings, left, strict=False)]
        found.append(_activation(name, numbers, node))
    count = len(defaults)
    return found[direction * count : (direction + 1) * count]


def _activation(name: str, numbers: Sequence[float], node: OnnxNode) -> Activation:
    low = name.lower()

    def scaled(make: CellMaker, x: Ref, factor: float, called: str) -> Ref:
        return make("multiply", x, make.number(factor), called=called)

    def apply(make: CellMaker, x: Ref, called: str) -> Ref:
        if low in _PLAIN:
            return make(_PLAIN[low], x, called=called)
        if low == "affine":
            product = scaled(make, x, numbers[0], f"{called}/scaled")
            return make("add", product, make.number(numbers[1]), called=called)
        if low == "scaledtanh":
            inner = make("tanh", scaled(make, x, numbers[1], f"{called}/scaled"), called=f"{called}/tanh")
            return scaled(make, inner, numbers[0], called)
        if low == "thresholdedrelu":
            test = make("greater", x, make.number(numbers[0]), called=f"{called}/above")
            return make("where", test, x, make.number(0.0), called=called)
        attrs: dict[str, Any] = dict(zip(("alpha", "beta"), numbers, strict=False))
        op = {"leakyrelu": "leaky_relu", "hardsigmoid": "hard_sigmoid", "elu": "elu"}[low]
        return make(op, x, called=called, **attrs)

    return apply


# -- steps ------------------------------------------------------------------------------------------------------------
def lstm(
    make: CellMaker,
    x: Ref,
    now: Sequence[Ref],
    weights: CellWeights,
    of: Sequence[Activation],
    attrs: Mapping[str, Any],
) -> list[Ref]:
    (h, c), (gate, inner, outer) = now, of
    parts = make.several("split", _sum(make, x, h, weights), 4, called="parts", axis=1, num=4)

    def opened(k: int, cell: Ref, called: str) -> Ref:
        value = parts[k]
        if weights.peepholes:
            look = make(
                "multiply", cell, make.brought(weights.peepholes[k], f"P_{called}"), called=f"{called}/peephole"
            )
            value = make("add", value, look, called=f"{called}/sum")
        return gate(make, _clipped(make, value, attrs), called)

    i = opened(0, c, "i")
    if attrs.get("input_forget", 0):
        f = make("subtract", make.number(1.0), i, called="f")
    else:
        f = opened(2, c, "f")
    candidate = inner(make, _clipped(make, parts[3], attrs), "c")
    kept = make("multiply", f, c, called="kept")
    new = make("add", kept, make("multiply", i, candidate, called="added"), called="C_t")
    o = opened(1, new, "o")
    return [make("multiply", o, outer(make, new, "C_t/activated"), called="H_t"), new]


def gru(
    make: CellMaker,
    x: Ref,
    now: Sequence[Ref],
    weights: CellWeights,
    of: Sequence[Activation],
    attrs: Mapping[str, Any],
) -> list[Ref]:
    (h,), (gate, inner) = now, of
    of_x = make.several("split", _product(make, x, weights.x, "W", weights.bias), 3, called="W/parts", axis=1, num=3)
    if not weights.rows:
        product = _product(make, h, weights.h, "R", weights.bias_of_h)
        of_h = make.several("split", product, 3, called="R/parts", axis=1, num=3)
    else:
        of_h = [_product(make, h, row, f"R_{n}") for n, row in zip("zr", weights.rows, strict=False)]
    z, r = (
        gate(make, _clipped(make, make("add", of_x[k], of_h[k], called=f"{n}/sum"), attrs), n)
        for k, n in enumerate("zr")
    )
    if not weights.rows:
        recurrent = make("multiply", r, of_h[2], called="h/reset")
    else:
        reset = make("multiply", r, h, called="h/reset")
        recurrent = _product(make, reset, weights.rows[2], "R_h")
    total = make("add", of_x[2], recurrent, called="h/sum")
    new = inner(make, _clipped(make, total, attrs), "h")
    kept = make("multiply", z, h, called="kept")
    fresh = make("multiply", make("subtract", make.number(1.0), z, called="1-z"), new, called="added")
    return [make("add", fresh, kept, called="H_t")]


def rnn(
    make: CellMaker,
    x: Ref,
    now: Sequence[Ref],
    weights: CellWeights,
    of: Sequence[Activation],
    attrs: Mapping[str, Any],
) -> list[Ref]:
    total = _clipped(make, _sum(make, x, now[0], weights), attrs)
    return [of[0](make, total, "H_t")]


#: op -> function of one step: (maker, row of X, state, weights, activations, attributes) -> the next state
CELLS: dict[str, Callable[..., list[Ref]]] = {"LSTM": lstm, "GRU": gru, "RNN": rnn}
