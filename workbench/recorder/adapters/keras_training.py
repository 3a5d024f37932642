"""Keras: a callback that records every training batch, or every epoch."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from workbench.errors import WatchError
from workbench.recorder.adapters.recorder_protocol import Recorder
from workbench.recorder.until import reached


def keras_callback(watch: Recorder, every: str = "batch") -> Any:
    """A ``keras.callbacks.Callback``: the entries of ``logs``, such as ``loss``.

    Parameters
    ----------
    watch : Watch
        The watch that records the iterations. A stop request sets ``model.stop_training``, as does ``until``, such as
        ``until={"val_loss": ("<", 0.1)}``, once it is met.
    every : {"batch", "epoch"}
        The unit of an iteration. The loss of a batch is Keras's mean since the epoch began, not that of this batch
        alone; ``steps_per_execution`` above 1 thins the batches. Batches also have the values of the newest validation.

    Raises
    ------
    WatchError
        ``bad-every`` for any other ``every``.
    """
    if every not in ("batch", "epoch"):
        raise WatchError(
            f"keras_callback: every must be 'batch' or 'epoch', got {every!r}.", slug="bad-every", fix='every="epoch"'
        )
    keras = importlib.import_module("keras")

    class WatchCallback(keras.callbacks.Callback):  # type: ignore[misc, name-defined]
        validated: dict[str, float]

        def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
            self.validated = {}
            watch.opened()

        def _note(self, logs: Mapping[str, Any] | None) -> None:
            values = {**self.validated, **_numbers(logs)}
            watch.record(**values)
            if watch.stop_requested or reached(watch.until, values):
                self.model.stop_training = True

        def on_train_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
            if every == "batch":
                self._note(logs)

        def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
            if every == "epoch":
                self._note(logs)
            else:
                self.validated = {name: value for name, value in _numbers(logs).items() if name.startswith("val_")}

        def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
            watch.finish()

    return WatchCallback()


def _numbers(logs: Mapping[str, Any] | None) -> dict[str, float]:
    return {str(name): float(value) for name, value in (logs or {}).items()}
