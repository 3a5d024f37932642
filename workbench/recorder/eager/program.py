"""One iteration of a loop as a straight program of ATen calls, and its replay.

Tensors that were there before the iteration are copied when an op first reads them, with their strides; the random
state is that at the beginning. Replayed below autograd, with the grad mode that each call had: in-place ops and views
are replayed as themselves, and the backward pass is calls like any other.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from workbench.kernels.streaming import TensorLog
from workbench.recorder.eager.sites import Site
from workbench.text import harmless

#: bytes of copies after which an iteration is not kept for a replay
MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class Replay:
    """The outcome of calling the ops of an iteration again: the same numbers, or not.

    ``exact`` is None where it was not tried, for ``reason``; ``first`` the first op that gave others.
    """

    exact: bool | None
    iteration: int = -1
    ops: int = 0
    first: Site | None = None
    reason: str = ""

    @harmless
    def __str__(self) -> str:
        if self.exact is None:
            return f"Not replayed: {self.reason}."
        if self.exact:
            return f"Iteration {self.iteration} replays exactly: {self.ops} ops gave the same numbers, bit for bit."
        return f"Iteration {self.iteration} does not replay: {self.first} gave other numbers. {self.reason}"


class IterationProgram:
    """Records the calls of an iteration: ``before`` and ``after`` around each."""

    def __init__(self, torch: Any, iteration: int) -> None:
        self._torch, self.iteration = torch, iteration
        pytree = importlib.import_module("torch.utils._pytree")
        self._flatten, self._unflatten = pytree.tree_flatten, pytree.tree_unflatten
        self.random = torch.get_rng_state()
        self.calls: list[tuple[Any, list[Any], Any, list[Any], bool, list[int]]] = []
        self.outside: dict[int, Any] = {}
        self.bytes = 0
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # so that no id is used twice
        self._line: list[Any] = []
        self._spec: Any = None

    def before(self, args: Any, kwargs: Any) -> None:
        """Note the arguments of a call that is about to be made."""
        flat, self._spec = self._flatten((args, kwargs))
        tensor = self._torch.Tensor
        self._line = [(True, self._read(a)) if isinstance(a, tensor) else (False, a) for a in flat]

    def _read(self, tensor: Any) -> int:
        number = self._numbers.get(id(tensor))
        if number is None:
            number = self._new(tensor)
            self.bytes += tensor.nbytes
            if self.bytes <= MOST_BYTES:
                self.outside[number] = self._copy(tensor)
        return number

    def _copy(self, tensor: Any) -> Any:
        copied: Any = tensor.detach().clone(memory_format=self._torch.preserve_format)
        return copied

    def _new(self, tensor: Any) -> int:
        number = self._numbers[id(tensor)] = len(self._alive)
        self._alive.append(tensor)
        return number

    def after(self, func: Any, out: Any, rows: list[int]) -> None:
        """Note what the call gave; ``rows`` are the rows of its tensors in the record of the iteration."""
        made: list[int | None] = []
        for value in self._flatten(out)[0]:
            if isinstance(value, self._torch.Tensor):
                known = self._numbers.get(id(value))
                made.append(self._new(value) if known is None else known)
            else:
                made.append(None)
        self.calls.append((func, self._line, self._spec, made, self._torch.is_grad_enabled(), rows))

    def replay(self, recorder: Any, rows: Any) -> Replay:
        """Call everything again and compare each tensor's numbers with those recorded."""
        if self.bytes > MOST_BYTES:
            return Replay(None, self.iteration, reason=f"the iteration reads {self.bytes:,} bytes from before it")
        torch = self._torch
        values = {k: self._copy(v) for k, v in self.outside.items()}
        log, random, grad = TensorLog(), torch.get_rng_state(), torch.is_grad_enabled()
        torch.set_rng_state(self.random)
        try:
            with torch._C._AutoDispatchBelowAutograd():
                for func, line, spec, made, enabled, given in self.calls:
                    torch._C._set_grad_enabled(enabled)
                    args, kwargs = self._unflatten([values[v] if is_tensor else v for is_tensor, v in line], spec)
                    out = func(*args, **kwargs)
                    for number, value in zip(made, self._flatten(out)[0], strict=True):
                        if number is not None:
                            values[number] = value
                    if not given:
                        continue
                    tensors = recorder.given(func, args, kwargs, out)
                    for tensor, row in zip(tensors, given, strict=True):
                        if row >= 0 and recorder.scan_into(log, tensor) >= 0 and not _same(log, rows[row]):
                            site = recorder.table[int(rows[row]["site"])]
                            return Replay(False, self.iteration, len(self.calls), site, _why(site))
        finally:
            torch._C._set_grad_enabled(grad)
            torch.set_rng_state(random)
        return Replay(True, self.iteration, len(self.calls))


def _same(log: TensorLog, row: Any) -> bool:
    mine = log.take()[0]
    return bool(mine["hash"] == row["hash"] and mine["count"] == row["count"])


def _why(site: Site) -> str:
    """Known reasons for an op to give other numbers."""
    if site.op in ("_local_scalar_dense", "item"):
        return "The number was read by Python."
    return "Threads that share a sum, atomic additions on a GPU, or code outside of PyTorch can be the cause."
