"""Lightning: a callback that records every training batch."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from workbench.recorder.adapters.recorder_protocol import Recorder
from workbench.recorder.adapters.torch_optimizer import as_number


def lightning_callback(watch: Recorder) -> Any:
    """A ``lightning.Callback``: ``loss``, ``global_step`` and what the module logged, of each batch.

    A stop of the watch sets ``trainer.should_stop``. With gradient accumulation there are more batches than optimiser
    steps; ``global_step`` tells which step a batch belongs to.
    """
    lightning = importlib.import_module("lightning")

    class WatchCallback(lightning.Callback):  # type: ignore[misc, name-defined]
        def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
            watch.opened()

        def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
            loss = outputs.get("loss") if isinstance(outputs, Mapping) else outputs
            values = {} if loss is None else {"loss": as_number(loss)}
            logged = {str(k): as_number(v) for k, v in trainer.callback_metrics.items() if str(k) not in values}
            watch.record(**values, global_step=int(trainer.global_step), **logged)
            if watch.stop_requested:
                trainer.should_stop = True

        def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
            watch.finish()

    return WatchCallback()
