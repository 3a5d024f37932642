"""ATen calls as foreign nodes, ``torch:aten.mul.Tensor``: each computes one PyTorch call on arrays.

The attribute ``call`` describes each argument, as JSON. In a recorded loop the operands are whole storages, as arrays,
and an argument is a strided part of one, so that kernels see the recorded strides and give the same bits; a storage
written in place is an output, as a new version. In an exported program operands and outputs are arrays, whose sizes may
be known only at run time.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ExecutionError, UnknownOpError
from workbench.ir.opspec import OpSpec
from workbench.ir.types import TensorType, numpy_dtype
from workbench.libraries import needed
from workbench.ops import foreign

PREFIX = "torch"
#: a value that an iteration receives from outside the loop; the input is the index of the iteration
GIVEN = "torch:given"
#: true if a number that Python read from a tensor differs from the recorded one; inputs: storage, recorded number
READ = "torch:read"
#: (record, key) -> function from an iteration to an array
SOURCES: dict[tuple[str, int], Callable[[int], Any]] = {}


def resolve(op: str, attrs: Mapping[str, Any]) -> OpSpec:
    """The registry entry of an ATen call."""
    types = attrs.get("types", ())
    if not isinstance(types, tuple) or not all(isinstance(t, TensorType) for t in types):
        raise UnknownOpError(f"The foreign op {op!r} does not carry its types.", fix="read it again.")
    outputs = tuple(f"output{i}" for i in range(len(types)))
    name = op.removeprefix(f"{PREFIX}:")
    return OpSpec(
        op,
        ("*inputs",),
        outputs,
        _infer,
        _given if op == GIVEN else _read if op == READ else functools.partial(evaluate, name),
        f"{name}, computed by PyTorch.",
        "foreign",
        source="https://docs.pytorch.org/docs/stable/torch.compiler_ir.html",
        attrs={"types": (), "call": "", "record": "", "key": 0},
    )


def _infer(types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[Any]) -> tuple[TensorType, ...]:
    return tuple(attrs["types"])


def _given(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    source = SOURCES.get((attrs["record"], attrs["key"]))
    if source is None:
        raise ExecutionError(
            "The values that this loop was given from outside are no longer there.",
            slug="not-seen",
            fix="keep the watch that recorded the loop, and ask it again: watch.session().",
        )
    kind = attrs["types"][0]
    return (np.asarray(source(int(arrays[0])), numpy_dtype(kind.dtype)).reshape(kind.shape),)


def _read(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    torch = library()
    bases = [_as_tensor(torch, arrays[0], False)]
    now, then = _argument(torch, _parsed(attrs["call"])["args"][0], bases, ()).item(), arrays[1].item()
    return (np.array(now != then and not (now != now and then != then)),)


def evaluate(name: str, arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    """Compute a call; returns its output storages as arrays of the types in ``attrs``."""
    torch = library()
    call = _parsed(attrs["call"])
    bases = [_as_tensor(torch, a, k in call["written"]) for k, a in enumerate(arrays[: call["storages"]])]
    if call.get("whole"):
        bases = [b.reshape(a.shape) for a, b in zip(arrays, bases, strict=True)]
    if "random" in call:
        before = torch.get_rng_state()
        torch.set_rng_state(_as_tensor(torch, arrays[call["random"]], True))
    numbers = [a.item() if a.ndim == 0 else a for a in arrays]
    grad = torch.is_grad_enabled()
    try:
        with torch._C._AutoDispatchBelowAutograd():
            torch._C._set_grad_enabled(bool(call["grad"]))
            args = [_argument(torch, a, bases, numbers) for a in call["args"]]
            kwargs = {k: _argument(torch, a, bases, numbers) for k, a in call["kwargs"].items()}
            out = _function(torch, name)(*args, **kwargs)
    except Exception as error:
        raise ExecutionError(
            f"PyTorch's {name} failed: {type(error).__name__}: {' '.join(str(error).split())[:400]}",
            slug="foreign-op-failed",
        ) from error
    finally:
        torch._C._set_grad_enabled(grad)
        if "random" in call:
            torch.set_rng_state(before)
    made = _flat(torch, out)
    if call.get("unwritten"):
        for tensor in made:
            tensor.zero_()
    if call.get("whole"):
        pairs = zip(call["outs"], attrs["types"], strict=True)
        return tuple(
            _whole_array(torch, name, (bases if what == "operand" else made)[where], kind)
            for (what, where), kind in pairs
        )
    found = [bases[where] if kind == "storage" else _storage_of(torch, made[where]) for kind, where in call["outs"]]
    return tuple(as_array(torch, t, kind) for t, kind in zip(found, attrs["types"], strict=True))


def library() -> Any:
    """The module ``torch``."""
    return needed(
        "torch", "Running the calls of PyTorch in this graph", "pip install torch.",
        error=ExecutionError, slug="no-torch", called="PyTorch",
    )  # fmt: skip


@functools.lru_cache(maxsize=1 << 16)
def _parsed(text: str) -> dict[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ExecutionError("A call of PyTorch is not described.", slug="foreign-op-failed")
    return found


@functools.lru_cache(maxsize=1 << 12)
def _function(torch: Any, name: str) -> Any:
    """The overload of an op by its full name: namespace.op.overload."""
    namespace, op, overload = (*name.split("."), "", "")[:3]
    found = getattr(getattr(getattr(torch.ops, namespace, None), op, None), overload or "default", None)
    if not isinstance(found, torch._ops.OpOverload) or any(a.name == "filename" for a in found._schema.arguments):
        raise ExecutionError(
            f"{name!r} is not an op of PyTorch that computes and nothing else.", slug="foreign-op-failed"
        )
    return found


def _argument(torch: Any, given: Any, bases: Sequence[Any], numbers: Sequence[Any]) -> Any:
    """An argument of a call, from its description by :func:`describe_argument`."""
    if isinstance(given, list):
        return [_argument(torch, a, bases, numbers) for a in given]
    if not isinstance(given, dict):
        return given
    (kind, value), *_ = given.items()
    if kind == "array":
        return bases[value]
    if kind == "tensor":
        k, dtype, size, stride, offset = value
        base = bases[k]
        wanted = getattr(torch, dtype)
        start = _argument(torch, offset, bases, numbers)
        return (base if base.dtype == wanted else base.view(wanted)).as_strided(size, stride, start)
    if kind == "item":
        return int(numbers[value[0]][value[1]])
    if kind == "input":
        return numbers[value]
    if kind == "number":
        return float(value)
    if kind == "complex":
        return complex(*value)
    if kind == "device":
        return torch.device(value)
    if kind == "generator":  # with the state that the call starts from
        return torch.Generator().set_state(torch.get_rng_state())
    return getattr(torch, value)


def describe_argument(torch: Any, value: Any) -> Any:
    """A plain argument as JSON: numbers, strings, None, lists, dtypes, devices, layouts, memory formats, and
    ``torch.Generator`` itself for a generator."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else {"number": str(value)}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if value is torch.Generator:
        return {"generator": ""}
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return {"constant": str(value).removeprefix("torch.")}
    if isinstance(value, (list, tuple)):
        return [describe_argument(torch, v) for v in value]
    raise UnknownOpError(f"An argument of type {type(value).__name__} cannot be put into a graph.", fix="leave it out.")


def _flat(torch: Any, out: Any) -> list[Any]:
    if isinstance(out, torch.Tensor):
        return [out]
    return [t for item in out for t in _flat(torch, item)] if isinstance(out, (tuple, list)) else []


def _storage_of(torch: Any, tensor: Any) -> Any:
    """The whole storage of a tensor, as a vector."""
    storage = tensor.untyped_storage()
    count = storage.nbytes() // tensor.element_size()
    return tensor.detach().as_strided((count,), (1,), 0)


def _whole_array(torch: Any, name: str, tensor: Any, kind: TensorType) -> np.ndarray:
    """A tensor as a new array, checked against the type of the output."""
    found = TensorType(str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape))
    if not kind.accepts(found):
        raise ExecutionError(f"PyTorch's {name} gave {found}, where the program says {kind}.", slug="foreign-op-failed")
    plain = tensor.detach().resolve_conj().resolve_neg()
    return as_array(torch, plain.reshape(-1).clone(), found)


def _as_tensor(torch: Any, array: Any, own: bool) -> Any:
    """The numbers of an array as a torch vector; a copy if they will be written."""
    array = np.ascontiguousarray(array).reshape(-1)
    name = array.dtype.name
    if name == "bfloat16" or name.startswith("float8"):
        made = torch.from_numpy(array.view(np.int16 if array.itemsize == 2 else np.int8).copy())
        return made.view(getattr(torch, name))
    return torch.from_numpy(array.copy() if own or not array.flags.writeable else array)


def as_array(torch: Any, tensor: Any, kind: TensorType) -> np.ndarray:
    """The numbers of a torch vector as an array of a type."""
    dtype = numpy_dtype(kind.dtype)
    tensor = tensor.detach()
    if kind.dtype == "bfloat16" or kind.dtype.startswith("float8"):
        tensor = tensor.view(torch.int16 if dtype.itemsize == 2 else torch.int8)
    array: np.ndarray = tensor.numpy().view(dtype).reshape(kind.shape)
    return array


foreign.register(PREFIX, resolve)
