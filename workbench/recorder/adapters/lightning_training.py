"""Lightning: a callback that records every training batch."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from workbench.recorder.adapters.recorder_protocol import OpsRecorder, Recorder
from workbench.recorder.adapters.torch_optimizer import as_number
from workbench.recorder.until import reached


def lightning_callback(watch: Recorder) -> Any:
    """A ``lightning.Callback``: ``loss``, ``global_step`` and the values that the module logged, per batch.

    A stop request sets ``trainer.should_stop``, as does ``until``, such as ``until={"val_loss": ("<", 0.1)}``, once it
    is met; values that a validation logged count from the next batch on. With gradient accumulation there are more
    batches than optimiser steps; ``global_step`` says which step a batch belongs to.

    With ``ops="torch"``, fit inside the block of the watch: ``with watch: trainer.fit(model)``. An iteration is then a
    step of the optimiser, with all batches that it accumulates; validation and other work between two batches are not
    recorded, and modules and parameters have their names in the module that is fitted.
    """
    lightning = importlib.import_module("lightning")
    ops = watch if isinstance(watch, OpsRecorder) else None

    class WatchCallback(lightning.Callback):  # type: ignore[misc, name-defined]
        steps = 0

        def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
            if ops is not None and stage == "fit":
                ops.follow(pl_module)
                ops.pause()

        def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
            watch.opened()

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            if ops is not None:
                ops.follow(optimizer=trainer.optimizers)
            self.steps = int(trainer.global_step)

        def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
            if ops is not None:
                ops.resume()

        def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
            stepped, self.steps = int(trainer.global_step) != self.steps, int(trainer.global_step)
            if ops is None or stepped:
                values = self._values(trainer, outputs)
                watch.record(**values)
                if reached(watch.until, values):
                    trainer.should_stop = True
            if ops is not None:
                ops.pause()
            if watch.stop_requested:
                trainer.should_stop = True

        def _values(self, trainer: Any, outputs: Any) -> dict[str, Any]:
            loss = outputs.get("loss") if isinstance(outputs, Mapping) else outputs
            values = {} if loss is None else {"loss": as_number(loss) if ops is None else loss}
            logged = {str(k): as_number(v) for k, v in trainer.callback_metrics.items() if str(k) not in values}
            return {**values, "global_step": int(trainer.global_step), **logged}

        def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
            if ops is None:  # the ``with`` block of an op watch finishes it
                watch.finish()

    return WatchCallback()
