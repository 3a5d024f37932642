"""The dispatch mode that hands every ATen call to a recorder."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from workbench.recorder.eager.op_recorder import OpRecorder


def mode_of(recorder: OpRecorder) -> Any:
    """A ``TorchDispatchMode`` whose ops ``recorder`` takes down; ``mode.paused`` lets ops through unseen.

    An error of the recorder does not reach the loop: it is kept in ``recorder.error``, and recording ends.
    """
    base = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode

    class OpMode(base):  # type: ignore[misc, valid-type]
        paused = False

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # torch would wrap each call, for 10 microseconds; see _not_compiled

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if self.paused:
                recorder.unseen(func, args, kwargs or {})
            else:
                recorder.before(func, args, kwargs or {})
            out = func(*args, **(kwargs or {}))
            if not self.paused:
                try:
                    recorder.took(func, args, kwargs or {}, out)
                except Exception as error:
                    self.paused, recorder.error = True, f"{func}: {type(error).__name__}: {error}"
            return out

    _not_compiled(OpMode.__torch_dispatch__, *(f for f in vars(OpRecorder).values() if hasattr(f, "__code__")))
    return OpMode()


def _not_compiled(*functions: Any) -> None:
    """Keep torch.compile away from the recorder's own frames, where the compiler is there at all."""
    if "torch._dynamo" in sys.modules:
        skip: Any = getattr(importlib.import_module("torch._C._dynamo.eval_frame"), "skip_code", None)
        for function in functions:
            if skip is not None:
                skip(function.__code__)
