"""Names of ops without their library."""

from __future__ import annotations


def bare_op(op: str) -> str:
    """The bare name of an op: for a foreign op, without its library, namespace and overload.

    >>> bare_op("divide"), bare_op("onnx:Div"), bare_op("onnx:com.microsoft.Gelu"), bare_op("torch:aten.addmm.default")
    ('divide', 'Div', 'Gelu', 'addmm')
    """
    library, _, name = op.rpartition(":")
    parts = name.split(".")
    return parts[-2] if library == "torch" and len(parts) > 2 else parts[-1]
