"""Creates ``defaults.pb`` with TensorFlow (2.21 for the file checked in): ``python make_defaults.py < names``.

It is a GraphDef with a node for each op of the standard input that has attributes with a default: the node
has them all, with TensorFlow's defaults, and the inputs ``c0``, ``c1`` and so on. The test needs no TensorFlow.
``python -c "from workbench.frontends.tf.rules import RULES; print(*RULES)"`` prints the names.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tensorflow as tf
from tensorflow.python.framework import op_def_registry

graph = tf.compat.v1.GraphDef()
for name in sorted(sys.stdin.read().split()):
    definition = op_def_registry.get(name)
    defaults = [a for a in definition.attr if a.HasField("default_value")] if definition else []
    if defaults:
        node = graph.node.add(name=name, op=name, input=[f"c{i}" for i in range(max(1, len(definition.input_arg)))])
        for attr in defaults:
            node.attr[attr.name].CopyFrom(attr.default_value)
Path(__file__).with_name("defaults.pb").write_bytes(graph.SerializeToString(deterministic=True))
