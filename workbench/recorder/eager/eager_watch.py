"""``EagerWatch``: a watch that also records every ATen call of the loop."""

from __future__ import annotations

import os
from typing import Any

from workbench.errors import WatchError
from workbench.recorder.eager.compare import OpDifference, compare
from workbench.recorder.eager.faults.alarms import is_bad, look
from workbench.recorder.eager.faults.first_bad import BadOp
from workbench.recorder.eager.faults.silent import Silent
from workbench.recorder.eager.journal import Journal
from workbench.recorder.eager.mode import mode_of
from workbench.recorder.eager.op_recorder import OpRecorder
from workbench.recorder.eager.record import OpRecord
from workbench.recorder.eager.replay import Replay
from workbench.recorder.eager.saved import read_ops, write_ops
from workbench.recorder.eager.sites import Site
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
        self,
        name: str,
        *,
        modules: Any = None,
        optimizer: Any = None,
        steps: bool = True,
        every: int = 1,
        **options: Any,
    ) -> None:
        memory, spill = options.get("memory", MEMORY), options.get("spill")
        if not isinstance(every, int) or isinstance(every, bool) or every < 1:
            raise WatchError(
                f"watch: every must be a number of iterations from 1 on, got {every!r}.",
                slug="bad-watch",
                fix="write every=10 to record the ops of each tenth iteration.",
            )
        super().__init__(name, **options)
        self._options.update({"modules": modules, "optimizer": optimizer, "steps": steps, "every": every})
        #: one iteration in so many is recorded; all of them after the first value that is not finite
        self._every, self._all = every, False
        self.ops = OpRecord(memory // 2, journal=None if spill is None else self._journal(os.fspath(spill)))
        self.recorder = OpRecorder(modules, optimizer, self.ops, memory // 2 if steps else 0)
        self._mode = mode_of(self.recorder)
        self._silent = Silent(self.recorder)
        self.recorder.phases.before_step = self._stepping
        self._bad: BadOp | None = None
        #: address of a storage -> the name of the gradient that the step of an optimizer reads there
        self._gradients: dict[int, str] = {}

    def _journal(self, folder: str) -> Journal:
        name = "".join(c if c.isalnum() or c in "-_" else "_" for c in self.name) or "loop"
        try:
            return Journal(folder, name, self.number)
        except OSError as error:
            raise WatchError(
                f"watch: the ops cannot be written to {folder}: {error.strerror or error}.",
                slug="bad-watch",
                fix="name a folder that can be written: spill='ops'.",
            ) from None

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
        why = self.recorder.error or self.ops.ends
        if why:
            self.refused["ops"] = why
        super().__exit__(kind, error, traceback)

    def __call__(self, *values: Any, **named: Any) -> bool:
        inside = self._mode.paused and not self.recorder.skipping
        self._mode.paused = True
        try:
            stop = super().__call__(*values, **named)
            if not inside:
                self._next_iteration(named)
        finally:
            self._mode.paused = inside or self.recorder.skipping or self.recorder.error is not None
        return stop

    def _next_iteration(self, named: dict[str, Any]) -> None:
        torch, recorder = self.recorder.torch, self.recorder
        dense = {k: v for k, v in named.items() if isinstance(v, torch.Tensor) and v.layout is torch.strided}
        if self._every > 1 and not self._all:
            self._all = self._bad is not None or recorder.is_bad() or any(is_bad(torch, v) for v in named.values())
        if recorder.skipping:
            recorder.skip_iteration()
        else:
            if recorder.steps is not None:
                recorder.steps.named = self._gradients | {v.untyped_storage()._cdata: k for k, v in dense.items()}
            self._gradients = {}
            self._end_iteration(named)
        left_out = self._every > 1 and not self._all and recorder.iteration > 1 and recorder.iteration % self._every
        recorder.skipping = bool(left_out)

    def record(self, **values: Any) -> None:
        """Record the values of one iteration, and end it."""
        self(**values)

    # -- trainers, which make modules and optimizers and end iterations themselves ------------------------------------
    def follow(self, modules: Any = None, optimizer: Any = None) -> None:
        """Follow the modules and the optimizer that a trainer has made, if the watch has none.

        Raises
        ------
        WatchError
            Outside the block of the watch, where no op is recorded (``no-block``).
        """
        if self._token is None:
            raise WatchError(
                f"The watch {self.name!r} has no block, so that it sees no op of PyTorch.",
                slug="no-block",
                fix="train inside of it: with watch: trainer.fit(model), or trainer.train().",
            )
        self.recorder.phases.follow(modules, optimizer)

    def pause(self) -> None:
        """Stop recording ops until :meth:`resume`, for example during a validation between two iterations."""
        self._mode.paused = True

    def resume(self) -> None:
        """Record ops again after :meth:`pause`."""
        self._mode.paused = self.recorder.skipping or self.recorder.error is not None

    def _stepping(self, optimizer: Any) -> None:
        """Note the gradients that an optimizer is about to use, and their names."""
        if self._mode.paused:
            return
        self._silent.stepping(optimizer)
        phases, strided = self.recorder.phases, self.recorder.torch.strided
        for parameter in (p for group in optimizer.param_groups for p in group["params"] if p.grad is not None):
            if parameter.grad.layout is strided and (name := phases.name_of(parameter)):
                self._gradients[parameter.grad.untyped_storage()._cdata] = f"{name}.grad"

    def _end_iteration(self, values: dict[str, Any], unfinished: bool = False) -> None:
        try:
            if self._bad is None:
                self._bad = look(self.recorder, values, unfinished)
            self._silent.look(values, unfinished)
            self.recorder.end_iteration()
        except Exception as error:  # the loop continues, and the record so far is kept
            self.recorder.error = f"the end of iteration {self.recorder.iteration}: {type(error).__name__}: {error}"

    # -- questions ----------------------------------------------------------------------------------------------------
    def first_bad(self) -> BadOp | None:
        """The op that first produced a NaN, or an infinity, that reached the loss, a parameter or a recorded value.

        If there is none, the first silent fault: a parameter of the optimizer that gets no gradient or a zero one, or
        never changes; an integer that wrapped; a buffer in training mode that is read and never written, although a new
        value for it is computed or it still has only zeros or ones. None if nothing is wrong. Uninitialised memory,
        infinities of masks, and steps that a gradient scaler skipped are not faults.
        """
        return self._bad or self._silent.first()

    @property
    def replays(self) -> Replay:
        """The replay of the first iterations op by op: exact, or the first op that produced different values."""
        return self.recorder.replay

    def session(self, **options: Any) -> Session:
        """A session on the recorded iterations as a loop of ATen calls: step in both directions, inspect values, edit,
        fork.

        The loop consists of the newest iterations of one form, as far back as ``memory=`` reaches. A tensor that a call
        writes in place becomes a new value. Numbers that Python read from a tensor (``item()``) keep their recorded
        values after an edit: the variable ``reads_differ`` of the loop is True from the first iteration in which one of
        them would be different.

        Parameters
        ----------
        **options
            Options of :class:`workbench.Session`.

        Raises
        ------
        WatchError
            If the record cannot become a loop (``no-steps``, ``no-common-form``).
        """
        steps = self.recorder.steps
        if steps is None or not (steps.iterations or steps.older[0]):
            reason = self.recorder.why_no_steps or "no iteration ended"
            raise WatchError(
                f"The watch {self.name!r} has no steps that could be run again: {reason}.",
                slug="no-steps",
                fix="record with steps=True, in a with block, and call the watch once an iteration.",
            )
        phases = self.recorder.phases
        names = {t.untyped_storage()._cdata: name for name, t in [*phases.optimizer_state(), *phases.state()]}
        record = f"{self.name}/{self.number}"
        made = StepsGraph(self.recorder.torch, steps, self.name, record, self._place, names)
        graph = made.graph()
        values = [name for name in self.names if name in graph.names and name not in graph.outputs]
        session = Session(graph, {}, **{"outputs": [*graph.outputs, *values], **options})
        session.watched = tuple(name for name in self.names if name in graph.names)
        return session

    def _place(self, iteration: int, row: int) -> Site | None:
        """The site of a row of an iteration."""
        rows = self.ops.rows.get(iteration)
        if rows is None or not 0 <= row < len(rows):
            return None
        return self.ops.table[int(rows[row]["site"])]

    def compare_ops(self, other: Any, rtol: float | None = None) -> OpDifference:
        """The first tensor that differs between this run and another: a watch with ops, or the path of a saved one."""
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
