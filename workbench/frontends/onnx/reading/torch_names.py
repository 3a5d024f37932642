"""Names that PyTorch's exporter leaves in the metadata of ONNX nodes: the call and the module that a node comes from.

::

    pkg.torch.onnx.fx_node      "%linear_1 : [num_users=1] = call_function[...]"     the call: linear_1
    pkg.torch.onnx.name_scopes  "['', 'layers.0', 'layers.0.up', 'linear_1']"        the module: layers.0.up

A graph that is read from a ``.pt2`` file names the node that makes the result of this call ``layers/0/up/linear_1``,
and what it is made of ``layers/0/up/linear_1/...``. Nodes of an ONNX model get the same names, which pair the two.
"""

from __future__ import annotations

import re
from typing import Any

CALL, SCOPES = "pkg.torch.onnx.fx_node", "pkg.torch.onnx.name_scopes"
_CALL = re.compile(r"%?(\w{1,200})\b")
_SCOPE = re.compile(r"'([^'\\]{0,400})'")
#: what torch.export calls the module of a loop's body, with ``strict=True``
_ROOT = "_export_root"
#: characters of the scopes that are read
_LONGEST = 8192


def call_of(node: Any) -> str:
    """``layers/0/up/linear_1``: the call that a node comes from, below its module; "" where the model does not tell."""
    metadata = {p.key: p.value for p in node.metadata_props if p.key in (CALL, SCOPES)}
    call = _CALL.match(metadata.get(CALL, "")[:_LONGEST])
    if call is None:
        return ""
    scopes = _SCOPE.findall(metadata.get(SCOPES, "")[:_LONGEST])
    module = scopes[-2].replace(".", "/") if len(scopes) > 1 else ""
    module = module.removeprefix(_ROOT).strip("/")
    return f"{module}/{call[1]}" if module else call[1]


def name_below(call: str, output: str) -> str:
    """The name of a node of a call, by its output: that of the call where it makes the call's result."""
    name = call.rpartition("/")[2]
    return call if output == name or output.startswith(f"{name}_") else f"{call}/{output}"
