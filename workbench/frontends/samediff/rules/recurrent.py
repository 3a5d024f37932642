"""lstmLayer: a whole sequence in one workbench op.

Inputs are x, the weights of the input and of the recurrence, and, as the first five flags say, biases, lengths, the
initial output and cell state, and peephole weights; outputs, by the last three flags, are the sequence, the last output
and the last cell state. Weights have the gates in the order i, f, c, o, peephole weights i, f, o.
Source: libnd4j/include/ops/declarable/generic/nn/recurrent/lstmLayer.cpp.
"""

from __future__ import annotations

from workbench.frontends.samediff.rules.base import OURS, FlatRule, Parts, is_float
from workbench.frontends.tf.graphdef import TensorName

#: format of x, in ND4J's order -> permutation that puts time first, and its inverse
_FORMATS: dict[int, tuple[list[int], list[int]]] = {0: ([], []), 1: ([1, 0, 2], [1, 0, 2]), 2: ([2, 0, 1], [1, 2, 0])}
#: activations of our op: sigmoid for gates, tanh for cell and output
_ACTIVATIONS = (2, 0, 0)
_STATE, _OUTPUT = 1, 6


def _lstm(p: Parts) -> bool:
    flags = [p.bool_at(i) for i in range(8)]
    biased, lengths, starts_h, starts_c, peephole, *wanted = flags
    form, backward = p.int_at(0), p.int_at(1)
    known = tuple(p.int_at(i) for i in (2, 3, 4)) == _ACTIVATIONS and form in _FORMATS and backward in (0, 1)
    if not known or lengths or not any(wanted) or len(p.inputs) != 3 + sum(flags[:5]) or not is_float(p.dtypes[0]):
        return False
    dtype = str(p.dtypes[0])
    x, of_input, recurrent, *rest = p.inputs
    forward, back = _FORMATS[form]
    if forward:
        x = p.add("time_first", "Transpose", x, p.value("perm", forward))
    if backward:
        x = p.add("reversed", "ReverseV2", x, p.value("time", [0]))
    zero = p.value("zero", 0.0, dtype)
    first = p.value("first", 0)
    bias = rest.pop(0) if biased else p.add("bias", "Sum", p.add("zeros", "ZerosLike", recurrent), first)
    sizes = p.add("shape", "Shape", x)
    units = p.add("units", "GatherV2", p.add("weights_shape", "Shape", recurrent), p.value("unit_axis", [0]), first)
    batch = p.add("batch", "GatherV2", sizes, p.value("batch_axis", [1]), first)
    start = p.add("start", "Fill", p.add("state_shape", "ConcatV2", batch, units, first), zero)
    output = rest.pop(0) if starts_h else start
    state = rest.pop(0) if starts_c else start
    peepholes = [bias] * 3  # unused
    if peephole:
        parts = p.add("peepholes", "Split", first, rest.pop(0), num_split=3)
        peepholes = [TensorName(parts.node, i) for i in range(3)]
    weights = p.add("weights", "ConcatV2", of_input, recurrent, first)
    length = p.add("length", "GatherV2", sizes, first, first)
    attrs = {"forget_bias": 0.0, "cell_clip": p.float_at(0), "use_peephole": peephole, "gates": "ifco"}
    inputs = (length, x, state, output, weights, *peepholes, bias)
    block = p.add("block", f"{OURS}lstm_block", *inputs, **attrs).node
    return _results(p, block, length, first, wanted, back, bool(backward))


def _results(
    p: Parts, block: str, length: TensorName, first: TensorName, wanted: list[bool], back: list[int], backward: bool
) -> bool:
    whole, states = TensorName(block, _OUTPUT), TensorName(block, _STATE)
    last = p.add("last", "Sub", length, p.value("one", 1))
    found = []
    if wanted[0]:
        sequence = p.add("in_order", "ReverseV2", whole, p.value("time_axis", [0])) if backward else whole
        found.append(p.add("sequence", "Transpose", sequence, p.value("perm_back", back)) if back else sequence)
    if wanted[1]:
        found.append(p.add("last_output", "GatherV2", whole, last, first))
    if wanted[2]:
        found.append(p.add("last_state", "GatherV2", states, last, first))
    return len(found) == len(p.node.outputs) and p.result("IdentityN", *found)


RULES: dict[str, FlatRule] = {"lstmLayer": _lstm}
