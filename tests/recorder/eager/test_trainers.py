"""Trainers of other libraries, op by op: Lightning, Hugging Face, TRL and Accelerate, with tiny random models."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.recorder.adapters import follow_trainer, lightning_callback

pytestmark = pytest.mark.watch
torch = pytest.importorskip("torch")
os.environ["HF_HUB_OFFLINE"] = "1"

from torch.nn import functional  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402


def watched(**options: Any) -> Any:
    return wb.watch("training", ops="torch", show=False, **options)


def ends_where_the_trainer_ended(watch: Any, model: Any) -> None:
    """The replay of the recorded steps gives the parameters of the trained model, bit for bit."""
    assert not watch.refused
    session = watch.session()
    assert session.run().reason is wb.StopReason.FINISHED
    outputs, compared = session.outputs, 0
    for name, parameter in model.named_parameters():
        compared += 1
        assert np.array_equal(np.asarray(outputs[name]).reshape(-1), parameter.detach().numpy().reshape(-1)), name
    assert compared


# -- Lightning --------------------------------------------------------------------------------------------------------
def lightning_run(watch: Any, tmp_path: Path, faulty: bool = False, accumulate: int = 1, epochs: int = 2) -> Any:
    lightning = pytest.importorskip("lightning")

    class Model(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.body = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))

        def training_step(self, batch: Any, index: int) -> Any:
            y = self.body(batch[0])
            if faulty and self.global_step == 4:
                y = (y * 0.0).log()  # fault
            return functional.mse_loss(y, batch[1])

        def validation_step(self, batch: Any, index: int) -> None:
            self.log("held", functional.mse_loss(self.body(batch[0]), batch[1]))

        def configure_optimizers(self) -> Any:
            return torch.optim.AdamW(self.parameters(), lr=0.05)

    torch.manual_seed(0)
    model, x = Model(), torch.randn(24, 4)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8)
    trainer = lightning.Trainer(
        max_epochs=epochs, callbacks=[lightning_callback(watch)], default_root_dir=tmp_path, accelerator="cpu",
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
        accumulate_grad_batches=accumulate,
    )  # fmt: skip
    trainer.fit(model, loader, loader)
    return model


def test_lightning(tmp_path: Path) -> None:
    with watched() as watch:
        model = lightning_run(watch, tmp_path)
    assert watch.calls == 6 and watch.first_bad() is None and watch.replays.exact
    assert watch["global_step"].values.tolist() == [1, 2, 3, 4, 5, 6] and watch.state == "finished"
    ends_where_the_trainer_ended(watch, model)


def test_the_fault_of_a_lightning_module_is_named(tmp_path: Path) -> None:
    with watched() as watch:
        lightning_run(watch, tmp_path, faulty=True)
    bad = watch.first_bad()
    text = Path(__file__).read_text().splitlines()
    assert (bad.iteration, bad.op, bad.file) == (4, "log", __file__) and "# fault" in text[bad.line - 1], str(bad)


def test_lightning_accumulates_batches_in_one_iteration(tmp_path: Path) -> None:
    with watched() as watch:
        lightning_run(watch, tmp_path, accumulate=3, epochs=3)
    assert watch.calls == 3 and watch["global_step"].values.tolist() == [1, 2, 3]


def test_a_trainer_outside_of_the_block_is_refused(tmp_path: Path) -> None:
    with pytest.raises(wb.WorkbenchError, match="no block"):
        lightning_run(watched(), tmp_path)


# -- Hugging Face and TRL ---------------------------------------------------------------------------------------------
def language_model() -> Any:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=24, n_positions=16, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config)


ARGUMENTS = {
    "per_device_train_batch_size": 4, "num_train_epochs": 2, "report_to": [], "use_cpu": True, "save_strategy": "no",
    "eval_strategy": "epoch", "logging_steps": 1, "disable_tqdm": True,
}  # fmt: skip


def hugging_face(tmp_path: Path) -> Any:
    transformers = pytest.importorskip("transformers")
    model = language_model()
    data = [{"input_ids": row, "labels": row} for row in torch.randint(0, 24, (16, 8))]
    arguments = transformers.TrainingArguments(output_dir=str(tmp_path), **ARGUMENTS)
    return transformers.Trainer(model, arguments, train_dataset=data, eval_dataset=data[:4])


def test_the_trainer_of_hugging_face(tmp_path: Path) -> None:
    trainer = hugging_face(tmp_path)
    with watched() as watch:
        follow_trainer(watch, trainer)
        trainer.train()
    logged = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert watch.calls == 8 == trainer.state.global_step and watch.replays.exact and watch.first_bad() is None
    assert np.allclose(watch["loss"].values, logged, atol=1e-3)
    ends_where_the_trainer_ended(watch, trainer.model)


def test_a_trainer_whose_ops_are_not_recorded_is_followed_without_a_block(tmp_path: Path) -> None:
    trainer = hugging_face(tmp_path)
    watch = wb.watch("training", show=False)
    follow_trainer(watch, trainer)
    trainer.train()
    assert watch.calls == 8 and watch.state == "finished"
    assert watch.names == ["loss", "lr", "global_step", "eval_loss"]
    trainer.train()
    assert watch.calls == 8, "the trainer is followed for one training only"


class Divided(torch.nn.Module):
    """Divides by 0 in the third training step."""

    steps = 0

    def forward(self, x: Any) -> Any:
        self.steps += self.training
        return x / (0.0 if self.steps == 3 else 1.0)  # fault


def test_the_fault_of_a_model_in_a_trainer_is_named(tmp_path: Path) -> None:
    trainer = hugging_face(tmp_path)
    trainer.model.transformer.h[1].mlp.dropout = Divided()
    with watched() as watch:
        follow_trainer(watch, trainer)
        trainer.train()
    bad = watch.first_bad()
    assert (bad.iteration, bad.op, bad.module) == (2, "div", "transformer.h.1.mlp.dropout"), str(bad)
    assert bad.file == __file__ and "# fault" in Path(__file__).read_text().splitlines()[bad.line - 1]


def test_a_stop_of_the_watch_stops_the_trainer(tmp_path: Path) -> None:
    trainer = hugging_face(tmp_path)
    with watched(stop_when=lambda watch: True) as watch:
        watch.request_stop()
        follow_trainer(watch, trainer)
        trainer.train()
    assert trainer.state.global_step == 1 == watch.calls


def test_another_object_is_no_trainer() -> None:
    pytest.importorskip("transformers")
    with pytest.raises(wb.WorkbenchError, match="Trainer or a trainer of TRL, got a Linear"):
        follow_trainer(watched(), torch.nn.Linear(2, 2))


def test_trl(tmp_path: Path) -> None:
    trl, tokenizers = pytest.importorskip("trl"), pytest.importorskip("tokenizers")
    transformers, datasets = pytest.importorskip("transformers"), pytest.importorskip("datasets")
    words = ["<pad>", "<unk>", *"abcdefghijklmnopqrstuv"]
    raw = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: k for k, w in enumerate(words)}, unk_token="<unk>"))
    raw.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="<pad>")
    saved = tmp_path / "model"
    language_model().save_pretrained(saved)
    texts = [{"prompt": "a b c", "chosen": f"d e {w}", "rejected": f"{w} e d"} for w in "fghijklm"]
    arguments = trl.DPOConfig(output_dir=str(tmp_path), bf16=False, **(ARGUMENTS | {"eval_strategy": "no"}))
    trainer = trl.DPOTrainer(
        str(saved), args=arguments, train_dataset=datasets.Dataset.from_list(texts), processing_class=tokenizer
    )
    with watched() as watch:
        follow_trainer(watch, trainer)
        trainer.train()
    logged = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert watch.calls == 4 == trainer.state.global_step and watch.first_bad() is None
    assert np.allclose(watch["loss"].values, logged, atol=1e-3) and watch.replays.exact and not watch.refused


# -- Accelerate -------------------------------------------------------------------------------------------------------
def test_accelerate() -> None:
    accelerate = pytest.importorskip("accelerate")
    torch.manual_seed(0)
    data = [(torch.randn(4), torch.randn(1)) for _ in range(48)]
    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    model, optimizer, loader = accelerator.prepare(net, torch.optim.AdamW(net.parameters(), 0.05), DataLoader(data, 4))
    with watched(modules=model, optimizer=optimizer) as watch:
        for given, wanted in loader:
            with accelerator.accumulate(model):
                loss = functional.mse_loss(model(given), wanted)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
            if accelerator.sync_gradients:
                watch(loss=loss)
    assert watch.calls == 6 and watch.first_bad() is None and watch.replays.exact and not watch.refused
    session = watch.session()  # the last iteration loads no next batch, so that its form differs
    assert session.run().reason is wb.StopReason.FINISHED and int(session.outputs["recorded_iteration"]) == 5
