"""Names that PyTorch's exporter leaves in the metadata of ONNX nodes: the call and the module that a node comes from.

::

    pkg.torch.onnx.fx_node      "%linear_1 : [num_users=1] = call_function[...]"     the call: linear_1
    pkg.torch.onnx.name_scopes  "['', 'layers.0', 'layers.0.up', 'linear_1']"        the module: layers.0.up

In a graph read from a ``.pt2`` file the node that produces the result of this call is ``layers/0/up/linear_1``, and the
nodes leading to it are ``layers/0/up/linear_1/...``. Nodes of an ONNX model get the same names, by which the two are
paired.
"""

from __future__ import annotations

import re
from typing import Any

CALL, SCOPES = "pkg.torch.onnx.fx_node", "pkg.torch.onnx.name_scopes"
_CALL = re.compile(r"%?(\w{1,200})\b")
_SCOPE = re.compile(r"'([^'\\]{0,400})'")
#: module name that torch.export gives to a loop's body, with ``strict=True``
_ROOT = "_export_root"
#: maximum number of characters read of the call and the scopes
_LONGEST = 8192


def call_of(node: Any) -> str:
    """The call that a node comes from, below its module, ``layers/0/up/linear_1``; "" if it is not recorded."""
    metadata = {p.key: p.value for p in node.metadata_props if p.key in (CALL, SCOPES)}
    call = _CALL.match(metadata.get(CALL, "")[:_LONGEST])
    if call is None:
        return ""
    scopes = _SCOPE.findall(metadata.get(SCOPES, "")[:_LONGEST])
    module = scopes[-2].replace(".", "/") if len(scopes) > 1 else ""
    module = module.removeprefix(_ROOT).strip("/")
    return f"{module}/{call[1]}" if module else call[1]


def name_below(call: str, output: str) -> str:
    """The name of a node of a call, from its output: the call itself for the node that produces the call's result."""
    name = call.rpartition("/")[2]
    return call if output == name or output.startswith(f"{name}_") else f"{call}/{output}"
