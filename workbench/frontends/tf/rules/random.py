"""Random numbers. Ops with seeds draw TensorFlow's own numbers, see workbench.ops.random.philox."""

from __future__ import annotations

import numpy as np

from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.rules.base import Constant, LoweredNode, Rule, attrs, plain, same

_SEEDS = {"seed": "seed", "seed2": "seed2"}


def _poisson(node: NodeDef, constant: Constant) -> LoweredNode:
    """Poisson draws; the first version has no dtype of the result, which is that of the rate."""
    dtype = node.attrs.get("dtype")
    found = {k: int(node.attrs.get(k, 0)) for k in _SEEDS}
    return LoweredNode("random_poisson", node.inputs, {**found, "dtype": plain(dtype) if dtype else "int64"})


def _algorithm(node: NodeDef, constant: Constant) -> LoweredNode:
    """The algorithm that TensorFlow would choose for the device; here always Philox."""
    return LoweredNode("Const", (), {"value": np.array(1, np.int32)})


def _stateless(op: str) -> Rule:
    return attrs(op, dtype="dtype")


RULES: dict[str, Rule] = {
    "RandomUniform": attrs("random_uniform", dtype="dtype", **_SEEDS),
    "RandomUniformInt": attrs("random_integers", **_SEEDS),
    "RandomStandardNormal": attrs("random_normal", dtype="dtype", **_SEEDS),
    "TruncatedNormal": attrs("random_truncated_normal", dtype="dtype", **_SEEDS),
    "RandomGamma": attrs("random_gamma", **_SEEDS),
    "RandomPoisson": _poisson,
    "RandomPoissonV2": _poisson,
    "RandomShuffle": attrs("random_shuffle", **_SEEDS),
    "Multinomial": attrs("random_categorical", dtype="output_dtype", **_SEEDS),
    "StatelessRandomUniform": _stateless("stateless_uniform"),
    "StatelessRandomNormal": _stateless("stateless_normal"),
    "StatelessTruncatedNormal": _stateless("stateless_truncated_normal"),
    "StatelessRandomGetKeyCounter": same("stateless_key"),
    "StatelessRandomGetAlg": _algorithm,
    "StatelessRandomUniformV2": attrs("keyed_uniform", dtype="dtype"),
    "StatelessRandomNormalV2": attrs("keyed_normal", dtype="dtype"),
    "StatelessTruncatedNormalV2": attrs("keyed_truncated_normal", dtype="dtype"),
    "StatelessRandomUniformIntV2": same("keyed_integers"),
    "StatelessRandomUniformInt": lambda node, constant: LoweredNode("stateless_integers", node.inputs),
}
