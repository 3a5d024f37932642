"""Logs that the real libraries write: TensorBoard's writer of PyTorch, Lightning, Keras, and Hugging Face's trainer."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import workbench as wb

pytestmark = pytest.mark.watch

torch = pytest.importorskip("torch")


def test_the_writer_of_pytorch(tmp_path):
    tensorboard = pytest.importorskip("torch.utils.tensorboard")
    with tensorboard.SummaryWriter(tmp_path / "run") as writer:
        for k in range(30):
            writer.add_scalar("loss/train", 0.5**k, 10 * k)
            if k % 10 == 9:
                writer.add_scalar("loss/valid", 0.6**k, 10 * k, new_style=True)
            writer.add_histogram("weights", np.arange(10.0), 10 * k)
    log = wb.read_log(tmp_path / "run")
    assert log.steps == [10 * k for k in range(30)] and {"loss/train", "loss/valid"} <= set(log.names)
    assert np.asarray(log["loss/train"].values).tolist() == [0.5**k for k in range(30)]
    assert log["loss/valid"].iterations[:, -1].tolist() == [10, 20, 30]


def test_the_logger_of_lightning(tmp_path):
    lightning = pytest.importorskip("lightning")

    class Line(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch, index):
            loss = self.layer(batch[0]).square().mean()
            self.log("train_loss", loss, on_step=True)
            return loss

        def validation_step(self, batch, index):
            self.log("val_loss", self.layer(batch[0]).square().mean())

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    torch.manual_seed(0)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(32, 4)), batch_size=8)
    logger = lightning.pytorch.loggers.CSVLogger(tmp_path)
    trainer = lightning.Trainer(
        max_epochs=4, logger=logger, log_every_n_steps=1, accelerator="cpu", enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(Line(), data, data)
    (path,) = tmp_path.rglob("metrics.csv")
    log = wb.read_log(path, until={"val_loss": ("<", 1e9)})
    with path.open() as file:
        rows = list(csv.DictReader(file))
    for name in ("train_loss", "val_loss"):
        assert np.asarray(log[name].values).tolist() == [float(row[name]) for row in rows if row[name]]
    assert len(log["train_loss"]) == 16 and len(log["val_loss"]) == 4 and log.healthy


def test_the_logger_of_keras(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")

    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.random.default_rng(0).normal(size=(32, 3))
    logger = keras.callbacks.CSVLogger(tmp_path / "log.csv")
    history = model.fit(x, x.sum(axis=1), epochs=5, verbose=0, callbacks=[logger])
    (tmp_path / "history.json").write_text(json.dumps(history.history), "utf-8")
    for name in ("log.csv", "history.json"):
        log = wb.read_log(tmp_path / name)
        assert np.asarray(log["loss"].values).tolist() == pytest.approx(history.history["loss"], rel=1e-6)


def test_the_state_of_a_trainer(tmp_path):
    transformers = pytest.importorskip("transformers")

    class Line(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def forward(self, x, labels):
            out = self.layer(x)[:, 0]
            return {"loss": (out - labels).square().mean(), "logits": out}

    rng = torch.Generator().manual_seed(0)
    x = torch.randn(64, 2, generator=rng)
    data = [{"x": row, "labels": row.sum()} for row in x]
    arguments = transformers.TrainingArguments(
        str(tmp_path), max_steps=20, per_device_train_batch_size=8, logging_steps=1, eval_strategy="steps",
        eval_steps=5, save_strategy="steps", save_steps=20, report_to=[], use_cpu=True, disable_tqdm=True,
    )  # fmt: skip
    trainer = transformers.Trainer(Line(), arguments, train_dataset=data, eval_dataset=data)
    trainer.train()
    (path,) = tmp_path.rglob("trainer_state.json")
    log = wb.read_log(path)
    said = json.loads(path.read_text())["log_history"]
    assert np.asarray(log["loss"].values).tolist() == [row["loss"] for row in said if "loss" in row]
    assert np.asarray(log["eval_loss"].values).tolist() == [row["eval_loss"] for row in said if "eval_loss" in row]
    assert log.steps == list(range(1, 21)) and log.healthy


def test_a_run_of_wandb(tmp_path, monkeypatch):
    """Offline, with a validation loss in every tenth step, a NaN, nested names, and records longer than a block."""
    wandb = pytest.importorskip("wandb")
    for name, value in (("WANDB_MODE", "offline"), ("WANDB_SILENT", "true"), ("WANDB_DIR", str(tmp_path))):
        monkeypatch.setenv(name, value)
    run = wandb.init(project="p", dir=str(tmp_path), settings=wandb.Settings(console="off"))
    for k in range(200):
        values = {"loss": 0.9**k if k < 150 else float("nan"), "opt": {"lr": 1e-3 * k}, "note": "a" * (k * 400)}
        run.log(values | ({"val/loss": 0.95**k} if k % 10 == 0 else {}))
    run.log({"weights": wandb.Histogram([1, 2, 3])})
    run.finish()
    (path,) = tmp_path.rglob("run-*.wandb")
    log = wb.read_log(path)
    assert [found.name.split("/")[-1] for found in wb.read_logs(tmp_path)] == [path.name]
    assert log.steps[:200] == list(range(200)) and set(log.names) == {"loss", "opt/lr", "val/loss"}
    assert np.asarray(log["loss"].values)[:150].tolist() == [0.9**k for k in range(150)]
    assert np.asarray(log["val/loss"].values).tolist() == [0.95**k for k in range(0, 200, 10)]
    assert log.problems() == ["loss is NaN in step 150 for the first time"] and not log.notes
    data = path.read_bytes()
    for size in (len(data) // 2, len(data) - 3):
        (tmp_path / "killed.wandb").write_bytes(data[:size])
        killed = wb.read_log(tmp_path / "killed.wandb")
        assert "ends inside a record" in killed.notes[0] and len(killed["loss"]) > 50
    for at in (20, len(data) // 2, len(data) - 30):
        (tmp_path / "damaged.wandb").write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(wb.WorkbenchError, match="is damaged") as caught:
            wb.read_log(tmp_path / "damaged.wandb")
        assert caught.value.slug == "bad-log"
