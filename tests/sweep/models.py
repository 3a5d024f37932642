"""Models of other libraries for sweeps: an ONNX loop with weights, a function of JAX with a loop."""

from __future__ import annotations

import numpy as np

import workbench as wb

#: rows and columns of the weights
WIDTH = 300
LOOP = f"""g (float[{WIDTH}] x0, int64 M) => (float[{WIDTH}] xN) {{
    yes = Constant <value = bool {{1}}> ()
    xN = Loop (M, yes, x0) <body = step (int64 i, bool c, float[{WIDTH}] x) => (bool co, float[{WIDTH}] xo) {{
        co = Identity (c)
        y = MatMul (W, x)
        xo = Tanh (y)
    }}>
}}"""


def onnx_loop(seed: int = 0) -> wb.Graph:
    """x <- tanh(W x), M times; W is a weight of the model."""
    import onnx

    from tests.frontends.models import HEAD

    proto = onnx.parser.parse_model(HEAD + LOOP)
    weights = np.random.default_rng(seed).normal(0, 0.1, (WIDTH, WIDTH)).astype(np.float32)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(weights, "W"))
    return wb.from_onnx(proto)


def jax_loop() -> wb.Graph:
    """Newton's iteration for a square root, with a bound that depends on the data."""
    import jax

    def root(a):
        return jax.lax.while_loop(lambda x: abs(x * x - a) > 1e-3, lambda x: (x + a / x) * 0.5, a)

    return wb.from_jax(root, np.float32(2.0))
