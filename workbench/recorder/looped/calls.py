"""Calls of modules within forward passes, with copies of their input and output tensors."""

from __future__ import annotations

import re
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

#: last part of the name of a module that may be a gate
GATE = re.compile(r"(^|_)(exit|halt|halting|halter|ponder|stop|gate)($|_)|(^|_)(q_head|act_head)$", re.IGNORECASE)
#: default limit on the bytes of copies
MEMORY = 1 << 30


@dataclass(eq=False)
class ModuleCall:
    """One call. ``order`` and ``ended`` count the beginnings and ends of calls of the pass."""

    name: str
    module: Any
    parent: ModuleCall | None
    order: int
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    output: Any = None
    ended: int = -1
    failed: bool = False
    kept: bool = False
    #: (device type, enabled, dtype) of autocast
    autocast: tuple[str, bool, Any] | None = None

    def above(self) -> Iterator[ModuleCall]:
        """The calls around this one, innermost first."""
        at = self.parent
        while at is not None:
            yield at
            at = at.parent


@dataclass(eq=False)
class ForwardPass:
    """The calls of one forward pass, in the order in which they began."""

    calls: list[ModuleCall] = field(default_factory=list)
    times: Counter[int] = field(default_factory=Counter)
    count: int = 0
    error: str = ""
    #: bytes of its copies, and the reason why later calls have none
    size: int = 0
    full: str = ""


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every leaf of a value of nested tuples, lists and mappings, with its path."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, tuple | list):
        for k, item in enumerate(value):
            yield from leaves(item, (*path, k))
    else:
        yield path, value


def replaced(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same value with other leaves."""
    if isinstance(value, Mapping):
        return {key: replaced(item, change) for key, item in value.items()}
    if isinstance(value, tuple | list):
        made = [replaced(item, change) for item in value]
        return tuple(made) if isinstance(value, tuple) else made
    return change(value)


def filled(value: Any, fed: Mapping[Any, Any], injected: Any, scale: Any, path: tuple[Any, ...] = ()) -> Any:
    """The same value with the leaves of ``fed``, by path, and with those of ``injected`` scaled."""
    if path in fed:
        return fed[path]
    if isinstance(value, Mapping):
        return {key: filled(item, fed, injected, scale, (*path, key)) for key, item in value.items()}
    if isinstance(value, tuple | list):
        made = [filled(item, fed, injected, scale, (*path, k)) for k, item in enumerate(value)]
        return tuple(made) if isinstance(value, tuple) else made
    return value * scale if path in injected else value


class CallLog:
    """Follows modules by torch's own hooks, from ``open`` to ``close``.

    Calls inside a module that was called before in the same pass are not copied: the block is known by then. ``named``
    maps names to modules; those with parameters, and possible gates, are followed.
    """

    def __init__(self, torch: Any, named: dict[str, Any], always: set[int], memory: int = MEMORY) -> None:
        self._torch, self._memory = torch, memory
        self._names = {id(module): (name, module) for name, module in reversed(named.items())}
        self._always = always | {
            key for key, (name, _) in self._names.items() if GATE.search(name.rpartition(".")[2].replace(".", "_"))
        }
        self._stack: list[ModuleCall] = []
        self._handles: list[Any] = []
        self._copies: dict[int, tuple[Any, int, Any]] = {}
        self.passes: list[ForwardPass] = []
        self.seen: Counter[str] = Counter()
        #: number of the oldest passes that were dropped for memory
        self.dropped = 0
        #: True once a hook was called by torch.compile, which traces it instead
        self.compiled = False

    def open(self) -> None:
        """Begin to follow."""
        for key, (_, module) in self._names.items():
            if key in self._always or next(module.parameters(), None) is not None:
                self._handles.append(module.register_forward_pre_hook(self._began, with_kwargs=True))
                self._handles.append(module.register_forward_hook(self._ended, with_kwargs=True, always_call=True))

    def close(self) -> None:
        """Stop following; may be called again."""
        for handle in self._handles:
            handle.remove()
        self._handles, self._stack, self._copies = [], [], {}

    def _began(self, module: Any, args: Any, kwargs: Any) -> None:
        if self._torch.compiler.is_compiling():
            self.compiled = True
            return
        if not self._stack:
            self.passes.append(ForwardPass())
            self._copies = {}
        run, key = self.passes[-1], id(module)
        parent = self._stack[-1] if self._stack else None
        call = ModuleCall(self._names[key][0], module, parent, run.count)
        run.count += 1
        self._stack.append(call)
        inside = parent is not None and any(run.times[id(c.module)] > 1 for c in (parent, *parent.above()))
        if inside and key not in self._always:
            return
        call.kept = True
        run.times[key] += 1
        self.seen[call.name] += 1
        run.calls.append(call)
        call.args, call.kwargs = replaced(args, self._copy), replaced(kwargs, self._copy)
        call.autocast = self._autocast(args)

    def _ended(self, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        if self._torch.compiler.is_compiling() or not self._stack:
            return
        while self._stack and self._stack[-1].module is not module:  # calls that ended with an exception
            self._stack.pop().failed = True
        if not self._stack:
            return
        call, run = self._stack.pop(), self.passes[-1]
        run.count += 1
        call.ended = run.count
        if call.kept:
            call.output = replaced(output, self._copy)
        call.failed = output is None or bool(run.full)
        if not self._stack:
            self._copies = {}

    def _autocast(self, args: Any) -> tuple[str, bool, Any] | None:
        device = next((leaf.device.type for _, leaf in leaves(args) if isinstance(leaf, self._torch.Tensor)), "cpu")
        try:
            on = self._torch.is_autocast_enabled(device)
            return (device, on, self._torch.get_autocast_dtype(device)) if on else None
        except (TypeError, RuntimeError):
            return None

    def _copy(self, value: Any) -> Any:
        """A copy of a tensor, the same one as long as the tensor is not written; other values are not copied."""
        torch = self._torch
        if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
            return value
        if isinstance(value, torch.nn.Parameter) or torch._C._functorch.is_functorch_wrapped_tensor(value):
            return value
        version = -1 if value.is_inference() else value._version
        known = self._copies.get(id(value))
        if known is not None and known[0]() is value and known[1] == version >= 0:
            return known[2]
        run = self.passes[-1]
        if run.full:
            return None
        size = value.numel() * value.element_size()
        while sum(other.size for other in self.passes) + size > self._memory:
            if len(self.passes) == 1:
                run.full = f"the copies of tensors reached memory={self._memory:,} bytes"
                return None
            del self.passes[0]
            self.dropped += 1
        run.size += size
        with torch.inference_mode(False), torch.no_grad():
            made = value.detach().clone()
        self._copies[id(value)] = weakref.ref(value), version, made
        return made
