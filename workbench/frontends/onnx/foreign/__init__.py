"""Foreign ONNX ops: ops that the registry lacks are evaluated by another library, node by node.

::

    NodeProto ── gate ──► whether a library can compute the node, and types of its outputs
              └─ nodes ──► attrs of onnx:Name ── entry ──► OpSpec ─┬─ session ──► onnxruntime, if it computes the node
                                                                    └─ reference ──► the onnx library's own evaluator

``onnx:Name`` (``onnx:domain.Name`` outside the standard) carries its NodeProto in the attribute ``node``, with inputs
and outputs renamed, the imported operator sets in ``opsets`` and its output types in ``types``. It needs nothing else,
so a saved graph works wherever the onnx library is installed. The node and the types of its inputs alone determine the
library that evaluates it, so that all runs of a process agree to the last bit; a plan's ``reasons`` name the library
and the reason.
"""

from workbench.frontends.onnx.foreign.entry import PREFIX, resolve
from workbench.frontends.onnx.foreign.gate import judged
from workbench.frontends.onnx.foreign.nodes import attrs_for, check, plain_attrs
from workbench.frontends.onnx.foreign.values import map_type_of

__all__ = ["PREFIX", "attrs_for", "check", "judged", "map_type_of", "plain_attrs", "resolve"]
