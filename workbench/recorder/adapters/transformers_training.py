"""Trainers of Hugging Face: transformers.Trainer and those of TRL, which derive from it."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from workbench.errors import WatchError
from workbench.recorder.adapters.recorder_protocol import OpsRecorder, Recorder
from workbench.recorder.adapters.torch_optimizer import as_number
from workbench.recorder.until import reached

#: suffixes of names for the cost of an evaluation, not its results
COSTS = ("_runtime", "_per_second", "_time", "epoch")


def follow_trainer(watch: Recorder, trainer: Any) -> None:
    """Record every optimiser step of a ``transformers.Trainer`` or a trainer of TRL; called before ``trainer.train()``.

    An iteration has ``loss``, which the trainer computed for the newest batch of the step, ``lr``, the learning rate of
    the next step, ``global_step``, and from the next step on the values of the newest evaluation, such as
    ``eval_loss``. A stop request sets ``control.should_training_stop``, as does ``until``, such as
    ``until={"eval_loss": ("<", 0.5)}``, once it is met.

    With ``ops="torch"``, train inside the block of the watch. Work between two steps (evaluation, logs, checkpoints) is
    not recorded; modules and parameters have their names in ``trainer.model``.

    Parameters
    ----------
    watch : Watch
        The watch that records the steps.
    trainer : transformers.Trainer
        The trainer, which gets one more callback.

    Raises
    ------
    WatchError
        ``not-a-trainer`` for any other object; ``no-block`` for a watch of ops outside of its block.
    """
    transformers = importlib.import_module("transformers")
    if not isinstance(trainer, transformers.Trainer):
        raise WatchError(
            f"follow_trainer: expected a transformers.Trainer or a trainer of TRL, got a {type(trainer).__name__}.",
            slug="not-a-trainer",
            fix="write follow_trainer(watch, trainer), and in a loop of your own call watch(loss=loss) in each step.",
        )
    ops = watch if isinstance(watch, OpsRecorder) else None
    losses: list[Any] = []
    evaluated: dict[str, float] = {}
    compute = trainer.compute_loss

    @functools.wraps(compute)
    def computed(*args: Any, **kwargs: Any) -> Any:
        found = compute(*args, **kwargs)
        losses[:] = [found[0] if isinstance(found, tuple) else found]
        return found

    class WatchCallback(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
        def on_train_begin(self, args: Any, state: Any, control: Any, **had: Any) -> None:
            watch.opened()
            if ops is not None:
                ops.follow(optimizer=had.get("optimizer"))

        def on_step_begin(self, args: Any, state: Any, control: Any, **had: Any) -> None:
            if ops is not None:
                ops.resume()

        def on_step_end(self, args: Any, state: Any, control: Any, **had: Any) -> None:
            values: dict[str, Any] = {}
            if losses:
                values["loss"] = losses[0].detach() if ops is not None else as_number(losses[0])
            losses.clear()
            rate = had["optimizer"].param_groups[0]["lr"]
            values |= {"lr": as_number(rate), "global_step": int(state.global_step), **evaluated}
            watch.record(**values)
            if ops is not None:
                ops.pause()
            if watch.stop_requested or reached(watch.until, values):
                control.should_training_stop = True

        def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **had: Any) -> None:
            for name, value in (metrics or {}).items():
                if isinstance(value, int | float) and not str(name).endswith(COSTS):
                    evaluated[str(name)] = value

        def on_train_end(self, args: Any, state: Any, control: Any, **had: Any) -> None:
            trainer.compute_loss = compute
            trainer.remove_callback(self)
            if ops is None:  # the ``with`` block of an op watch finishes it
                watch.finish()

    if ops is not None:
        ops.follow(trainer.model)
        ops.pause()
    trainer.compute_loss = computed
    trainer.add_callback(WatchCallback())
