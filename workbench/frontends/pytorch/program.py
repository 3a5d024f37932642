"""Names in an exported program, checked before PyTorch opens it: operators, types of arguments, sizes.

PyTorch looks up the operators of nodes as attributes of its module and runs them on the example inputs, imports the
modules that the types of arguments name, and evaluates sizes. A program that names anything but operators of graphs and
plain containers is refused.

Source: torch/_export/serde/serialize.py and torch/utils/_pytree.py of PyTorch 2.13.
"""

from __future__ import annotations

import json
import re
from typing import Any

from workbench.frontends.pytorch.sizes import plain

#: levels of brackets in the JSON of a program
MAX_DEPTH = 200
#: libraries of operators that compute and nothing else
_LIBRARIES = frozenset(("aten", "prims", "quantized_decomposed", "torchvision", "onnx"))
_HIGHER_ORDER = frozenset(
    "cond while_loop while_loop_stack_output scan map map_impl associative_scan invoke_subgraph flex_attention "
    "wrap_with_set_grad_enabled wrap_with_autocast auto_functionalized auto_functionalized_v2".split()
)
_OF_NUMBERS = {
    "_operator": frozenset(
        "eq ne le ge lt gt neg pos mul add sub floordiv mod pow truediv and_ or_ not_ lshift rshift abs getitem".split()
    ),
    "math": frozenset("trunc ceil floor sqrt".split()),
}
_OF_SIZES = re.compile(r"torch\.(_?sym_[a-z0-9_]+|_functorch\.predispatch\.(_add|_remove)_batch_dim)", re.ASCII)
_OPERATOR = re.compile(r"torch\.ops\.(\w+)\.(\w+)\.(\w+)", re.ASCII)
_HIGHER = re.compile(r"torch\.ops\.higher_order\.(\w+)", re.ASCII)
#: types of arguments whose context is looked at here; None is a leaf
_CONTAINERS = frozenset(
    (None, "builtins.tuple", "builtins.list", "builtins.dict", "collections.OrderedDict", "collections.namedtuple")
)


class UnsafeProgram(Exception):
    """The reason why a program is refused, as the end of a sentence."""


def checked(node: Any, torch: Any, key: str = "", depth: int = 0) -> Any:
    """Parsed JSON with its sizes written anew; UnsafeProgram if it names something that could run code of its own."""
    if depth > MAX_DEPTH:
        raise UnsafeProgram(f"it has more than {MAX_DEPTH} levels of brackets")
    if isinstance(node, dict):
        return {name: checked(value, torch, name, depth + 1) for name, value in node.items()}
    if isinstance(node, list):
        return [checked(value, torch, key, depth + 1) for value in node]
    if key == "use_pickle" and node not in (False, None):
        raise UnsafeProgram("names a weight that is a pickle")
    if key == "path_name" and not re.fullmatch(r"(weight|tensor)_\d{1,9}", str(node), re.ASCII):
        raise UnsafeProgram(f"names {str(node)[:60]!r}, which is not a file of a tensor")
    if key == "expr_str":
        return _size(node)
    if key in ("target", "as_operator") and node is not None and not _is_operator(str(node), torch):
        raise UnsafeProgram(f"names {str(node)[:60]!r}, which is not an operator of a graph")
    if key in ("in_spec", "out_spec") and node:
        _check_types(json.loads(node), torch)
    return node


def _size(text: Any) -> str:
    found = plain(str(text))
    if found is None:
        raise UnsafeProgram(f"has a size that is not arithmetic: {str(text)[:60]!r}")
    return found


def _is_operator(name: str, torch: Any) -> bool:
    """True if PyTorch finds an operator of a graph by a name, and nothing else that can be called."""
    if _OF_SIZES.fullmatch(name):
        return True
    library, _, rest = name.partition(".")
    if library in _OF_NUMBERS:
        return rest in _OF_NUMBERS[library]
    if found := _HIGHER.fullmatch(name):
        return found[1] in _HIGHER_ORDER
    found = _OPERATOR.fullmatch(name)
    if not found or found[1] not in _LIBRARIES:
        return False
    packet = getattr(getattr(torch.ops, found[1]), found[2], None)
    overload = getattr(packet, found[3], None) if isinstance(packet, torch._ops.OpOverloadPacket) else None
    if not isinstance(overload, torch._ops.OpOverload):
        return False
    return not any(argument.name == "filename" for argument in overload._schema.arguments)


def _check_types(spec: Any, torch: Any) -> None:
    """UnsafeProgram if building arguments of the types of a tree would import a module by its name."""
    if isinstance(spec, list):
        for part in spec:
            _check_types(part, torch)
    elif isinstance(spec, dict):
        kind = spec.get("type")
        if kind not in _CONTAINERS and not _is_registered(kind, torch):
            raise UnsafeProgram(f"has an argument of the type {str(kind)[:60]!r}")
        if isinstance(context := spec.get("context"), str):
            _check_context(json.loads(context))
        _check_types(spec.get("children_spec"), torch)


def _is_registered(kind: Any, torch: Any) -> bool:
    """True for a type that this process has registered, whose context is JSON and nothing else."""
    from torch.utils import _pytree

    found = _pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE.get(str(kind))
    return found is not None and _pytree.SUPPORTED_SERIALIZED_TYPES[found].from_dumpable_context is None


def _check_context(node: Any) -> None:
    if isinstance(node, dict):
        if "__enum__" in node:
            raise UnsafeProgram(f"names a class to import: {str(node.get('fqn'))[:60]!r}")
        for value in node.values():
            _check_context(value)
    elif isinstance(node, list):
        for value in node:
            _check_context(value)
