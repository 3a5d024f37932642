"""``EagerWatch``: a watch that also takes down every ATen call of the loop."""

from __future__ import annotations

import os
from typing import Any

from workbench.errors import WatchError
from workbench.recorder.eager.alarms import look
from workbench.recorder.eager.compare import OpDifference, compare
from workbench.recorder.eager.first_bad import BadOp
from workbench.recorder.eager.mode import mode_of
from workbench.recorder.eager.op_recorder import OpRecorder
from workbench.recorder.eager.program import Replay
from workbench.recorder.eager.record import OpRecord
from workbench.recorder.eager.saved import read_ops, write_ops
from workbench.recorder.eager.silent import Silent
from workbench.recorder.eager.steps_graph import StepsGraph
from workbench.recorder.watch import MEMORY, Watch
from workbench.session import Session
from workbench.trace.saved.writer import save_trace


class EagerWatch(Watch):
    """Records an eager PyTorch loop op by op; made by ``workbench.watch(name, ops="torch")``.

    Examples
    --------
    >>> with wb.watch("training", ops="torch", modules=model, optimizer=optimizer) as watch:  # doctest: +SKIP
    ...     for batch in loader:
    ...         loss = step(batch)
    ...         watch(loss=loss)  # ends an iteration
    >>> print(watch.first_bad())  # doctest: +SKIP
    """

    def __init__(
        self, name: str, *, modules: Any = None, optimizer: Any = None, steps: bool = True, **options: Any
    ) -> None:
        memory = options.get("memory", MEMORY)
        super().__init__(name, **options)
        self._options.update({"modules": modules, "optimizer": optimizer, "steps": steps})
        self.ops = OpRecord(memory // 2)
        self.recorder = OpRecorder(modules, optimizer, self.ops, memory // 2 if steps else 0)
        self._mode = mode_of(self.recorder)
        self._silent = Silent(self.recorder)
        self._bad: BadOp | None = None
        #: address of a storage -> the name with which the newest iteration recorded it
        self._value_names: dict[int, str] = {}

    def __enter__(self) -> EagerWatch:
        super().__enter__()
        self.recorder.phases.open()
        self._mode.__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self._mode.__exit__(kind, error, traceback)
        self._mode.paused = True
        self.recorder.phases.close()
        if len(self.recorder.log):
            self._end_iteration({}, unfinished=True)
        self._silent.finish()
        self.recorder.storages.close()
        if self.recorder.error is not None:
            self.refused["ops"] = self.recorder.error
        super().__exit__(kind, error, traceback)

    def __call__(self, *values: Any, **named: Any) -> bool:
        self._mode.paused, before = True, self._mode.paused
        try:
            stop = super().__call__(*values, **named)
            if not before:
                tensor = self.recorder.torch.Tensor
                dense = {
                    k: v for k, v in named.items() if isinstance(v, tensor) and v.layout is self.recorder.torch.strided
                }
                self._value_names = {v.untyped_storage()._cdata: k for k, v in dense.items()}
                self._end_iteration(named)
        finally:
            self._mode.paused = before or self.recorder.error is not None
        return stop

    def _end_iteration(self, values: dict[str, Any], unfinished: bool = False) -> None:
        try:
            if self._bad is None:
                self._bad = look(self.recorder, values, unfinished)
            self._silent.look(values, unfinished)
            self.recorder.end_iteration()
        except Exception as error:  # the loop goes on; what was recorded before is there
            self.recorder.error = f"the end of iteration {self.recorder.iteration}: {type(error).__name__}: {error}"

    # -- questions ----------------------------------------------------------------------------------------------------
    def first_bad(self) -> BadOp | None:
        """The op that first gave a NaN, or an infinity, that reached the loss, a parameter or a recorded value.

        Where there is none, the first silent fault: a parameter of the optimizer that gets no gradient, a zero one, or
        never changes; an integer that wrapped; a buffer in training mode that is read and never written, although a new
        value of it is computed or it is still all zeros or ones. None if nothing is wrong. Uninitialised memory,
        infinities of masks, and steps that a gradient scaler skipped are no faults.
        """
        return self._bad or self._silent.first()

    @property
    def replays(self) -> Replay:
        """The replay of the second iteration op by op: exact, or the first op that gave other numbers."""
        return self.recorder.replay

    def session(self, **options: Any) -> Session:
        """A session on the recorded iterations as a loop of ATen calls: step both ways, look at values, edit, fork.

        The loop has the newest iterations that have one form, as far back as ``memory=`` reaches. What a call writes in
        place is a new value. Numbers that Python read from a tensor (``item()``) stay what they were after an edit.

        Parameters
        ----------
        **options
            Those of :class:`workbench.Session`.

        Raises
        ------
        WatchError
            If no loop can be made of the record (``no-steps``, ``no-common-form``).
        """
        steps = self.recorder.steps
        if steps is None or not (steps.iterations or steps.older[0]):
            reason = self.recorder.no_steps or "no iteration ended"
            raise WatchError(
                f"The watch {self.name!r} has no steps that could be run again: {reason}.",
                slug="no-steps",
                fix="record with steps=True, in a with block, and call the watch once an iteration.",
            )
        names = self._value_names | {t.untyped_storage()._cdata: name for name, t in self.recorder.phases.state()}
        record = f"{self.name}/{self.number}"
        made = StepsGraph(self.recorder.torch, steps, self.name, record, self._place, names)
        return Session(made.graph(), {}, **options)

    def _place(self, iteration: int, row: int) -> tuple[str, str, int] | None:
        """(module, file, line) of a row of an iteration."""
        rows = self.ops.rows.get(iteration)
        if rows is None or not 0 <= row < len(rows):
            return None
        site = self.ops.table[int(rows[row]["site"])]
        return site.module, site.file, site.line

    def compare_ops(self, other: Any, rtol: float | None = None) -> OpDifference:
        """The first tensor that differs between this run and another: a watch of ops, or the path of a saved one."""
        if isinstance(other, (str, os.PathLike)):
            return compare(self.ops, read_ops(other), rtol)
        if not isinstance(other, EagerWatch):
            raise WatchError(
                f"diff: expected a watch with ops='torch' or the path of a saved one, got a {type(other).__name__}.",
                slug="bad-watch",
                fix='record the other run with wb.watch(name, ops="torch") too.',
            )
        return compare(self.ops, other.ops, rtol)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace and the statistics of all ops to one file, for ``wb.Trace.load`` and ``wb.diff``."""
        save_trace(self.trace, path, more=lambda members: write_ops(self.ops, members))
