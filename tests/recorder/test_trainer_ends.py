"""The end of a training by a validation metric, and alerts sent to a server, in the real trainers."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.recorder import alerts
from workbench.recorder.adapters import follow_trainer, keras_callback, lightning_callback

pytestmark = pytest.mark.watch
torch = pytest.importorskip("torch")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("KERAS_BACKEND", "torch")

EPOCHS, BATCHES = 6, 3


def data() -> tuple[Any, Any]:
    x = torch.randn(24, 4, generator=torch.Generator().manual_seed(0))
    return x, x.sum(1, keepdim=True)


class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
    """One layer; ``broken`` makes its loss NaN from that call on."""

    def __init__(self, broken: int = -1) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.layer, self.calls, self.broken = torch.nn.Linear(4, 1), 0, broken

    def forward(self, x: Any, labels: Any) -> Any:
        self.calls += self.training
        loss = torch.nn.functional.mse_loss(self.layer(x), labels)
        return {"loss": loss * float("nan") if 0 < self.broken <= self.calls else loss}


def hugging_face(watch: wb.Watch, path: Path, broken: int = -1) -> str:
    transformers = pytest.importorskip("transformers")
    x, y = data()
    rows = [{"x": x[k], "labels": y[k]} for k in range(len(x))]
    arguments = transformers.TrainingArguments(
        output_dir=str(path), per_device_train_batch_size=8, num_train_epochs=EPOCHS, learning_rate=0.05,
        report_to=[], use_cpu=True, save_strategy="no", eval_strategy="epoch", disable_tqdm=True,
        prediction_loss_only=True, logging_strategy="no",
    )  # fmt: skip
    trainer = transformers.Trainer(Net(broken), arguments, train_dataset=rows, eval_dataset=rows)
    follow_trainer(watch, trainer)
    trainer.train()
    return "eval_loss"


def lightning_run(watch: wb.Watch, path: Path, broken: int = -1) -> str:
    lightning = pytest.importorskip("lightning")

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = Net(broken)

        def training_step(self, batch: Any, index: int) -> Any:
            return self.net(*batch)["loss"]

        def validation_step(self, batch: Any, index: int) -> None:
            self.log("val_loss", self.net(*batch)["loss"])

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data()), batch_size=8)
    lightning.Trainer(
        max_epochs=EPOCHS, callbacks=[lightning_callback(watch)], default_root_dir=path, accelerator="cpu",
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
        num_sanity_val_steps=0,
    ).fit(Module(), loader, loader)  # fmt: skip
    return "val_loss"


def keras_run(watch: wb.Watch, path: Path, broken: int = -1) -> str:
    keras = pytest.importorskip("keras")
    x, y = (np.asarray(part) for part in data())
    if broken > 0:
        y = y * np.nan
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
    called = [keras_callback(watch)]
    model.fit(x, y, batch_size=8, epochs=EPOCHS, verbose=0, validation_data=(x, y), shuffle=False, callbacks=called)
    return "val_loss"


TRAINERS: list[Callable[..., str]] = [hugging_face, lightning_run, keras_run]


@pytest.mark.parametrize("run", TRAINERS)
def test_a_validation_metric_ends_the_training(run: Callable[..., str], tmp_path: Path) -> None:
    whole = wb.watch("whole", show=False)
    name = run(whole, tmp_path)
    assert whole.calls == EPOCHS * BATCHES
    seen = whole[name].values
    levels = list(dict.fromkeys(seen[~np.isnan(seen)].tolist()))  # of all epochs except the last
    assert len(levels) == EPOCHS - 1 and levels == sorted(levels, reverse=True)
    bound = (levels[1] + levels[2]) / 2  # met after the third epoch
    ended = wb.watch("ended", show=False, until={name: ("<", bound)})
    run(ended, tmp_path)
    assert ended.state == "finished" and 3 * BATCHES < ended.calls <= 4 * BATCHES
    assert ended[name].values[-1] < bound and not ended.refused
    assert str(ended.outlook().reached).startswith(f"{name} < ") and "became false" in str(ended.report())


@pytest.fixture
def hook() -> Iterator[tuple[str, list[Any]]]:
    """The address of a server on this machine, and the alerts that it received."""
    got: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *parts: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hook", got
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("run", TRAINERS)
def test_alerts_of_a_training_leave_the_process(
    run: Callable[..., str], hook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alerts, "BETWEEN", 0.0)
    address, posted = hook
    called: list[Any] = []
    for alert, got in ((called.append, called), (address, posted)):
        watch = wb.watch("training", show=False, alert=alert)
        run(watch, tmp_path, broken=5)
        assert watch.alerts is not None and watch.alerts.wait(60)
        kinds = [found["kind"] for found in got]
        assert kinds.count("nan") == 1 and kinds[-1] == "finished", kinds
        nan = next(found for found in got if found["kind"] == "nan")
        assert nan["watch"] == "training" and "became NaN in iteration" in nan["sentence"] + nan["text"]
