"""The dispatch mode that hands every ATen call to a recorder."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from workbench.recorder.eager.op_recorder import OpRecorder


def mode_of(recorder: OpRecorder) -> Any:
    """A ``TorchDispatchMode`` whose ops ``recorder`` records; with ``mode.paused`` ops are not recorded.

    An error of the recorder does not reach the loop: it is kept in ``recorder.error``, and recording ends.
    """
    base = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode

    class OpMode(base):  # type: ignore[misc, valid-type]
        paused = False

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True  # else torch runs compiled functions uncompiled from then on

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return _compiles()  # torch then wraps each call, at 10 microseconds

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if self.paused or types:  # tensors of a tracing compiler have no values
                if not (types or recorder.skipping):
                    recorder.unseen(func, args, kwargs or {})
                return func(*args, **(kwargs or {}))
            named = kwargs or {}
            try:
                recorder.before(func, args, named)
            except Exception as error:
                self._end(func, error)
                return func(*args, **named)
            out = func(*args, **named)
            try:
                recorder.took(args, named, out)
            except Exception as error:
                self._end(func, error)
            return out

        def _end(self, func: Any, error: Exception) -> None:
            self.paused, recorder.error = True, f"{func}: {type(error).__name__}: {error}"

    return OpMode()


def _compiles() -> bool:
    """True once ``torch.compile`` was called: the compiler would trace the recorder as a part of the user's code."""
    module: Any = sys.modules.get("torch._dynamo.eval_frame")
    return module is not None and any(callable(b) for b in getattr(module, "cached_backends", {}).values())
