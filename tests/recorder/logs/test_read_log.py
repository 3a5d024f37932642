"""Logs of finished runs: each format as its writers produce it, with known numbers."""

from __future__ import annotations

import json
import math
import struct

import numpy as np
import pytest

import workbench as wb
from workbench.frontends.tf.checkpoint.crc32c import crc32c, masked

LOSSES = [2.0 * 0.9**k for k in range(40)]


def lightning() -> str:
    """CSVLogger of Lightning: a row for training and one for validation, with empty cells."""
    rows = [
        f"{k // 10},{k},{loss},\n" + (f"{k // 10},{k},,{2 * loss}\n" if k % 10 == 9 else "")
        for k, loss in enumerate(LOSSES)
    ]
    return "epoch,step,train_loss,val_loss\n" + "".join(rows)


def trainer_state() -> str:
    """Hugging Face's trainer_state.json, with an evaluation and the summary of the run."""
    history: list[dict[str, float]] = []
    for k, loss in enumerate(LOSSES):
        history.append({"loss": loss, "learning_rate": 1e-4, "step": k})
        if k % 10 == 9:
            history.append({"eval_loss": 2 * loss, "eval_runtime": 0.5, "step": k})
    history.append({"train_runtime": 12.5, "train_loss": 0.4, "step": 39})
    return json.dumps({"epoch": 1.0, "log_history": history, "best_metric": None})


def mlperf() -> str:
    entry = '{"namespace": "", "time_ms": 1, "event_type": "POINT_IN_TIME", "key": %s, "value": %s, "metadata": %s}\n'
    lines = [":::MLLOG " + entry % ('"seed"', "7", '{"file": "a.py"}')]
    for k, loss in enumerate(LOSSES):
        told = tuple(map(json.dumps, ("tracked_stats", {"loss": loss}, {"step_num": k})))
        lines.append(f"0: :::MLLOG {entry % told}")
    return "".join(lines)


def event(step: int, tag: str, value: bytes) -> bytes:
    """One record of an event file."""

    def field(number: int, data: bytes) -> bytes:
        return bytes([number << 3 | 2, len(data)]) + data

    data = bytes([1 << 3 | 1]) + struct.pack("<d", 0.0) + bytes([2 << 3, step])
    data += field(5, field(1, field(1, tag.encode()) + value))
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked(crc32c(head))) + data + struct.pack("<I", masked(crc32c(data)))


def simple(x: float) -> bytes:
    return bytes([2 << 3 | 5]) + struct.pack("<f", x)


def tensor(x: float) -> bytes:
    """A tensor of one float32, as in the second version of TensorBoard's summaries."""
    inner = bytes([1 << 3, 1, 4 << 3 | 2, 4]) + struct.pack("<f", x)
    return bytes([8 << 3 | 2, len(inner)]) + inner


TEXTS = {
    "metrics.csv": (lightning(), "train_loss", "CSV"),
    "tabs.tsv": ("step\tloss\n" + "".join(f"{k}\t{loss}\n" for k, loss in enumerate(LOSSES)), "loss", "CSV"),
    "trainer_state.json": (trainer_state(), "loss", "JSON"),
    "rows.json": (json.dumps([{"step": k, "loss": loss} for k, loss in enumerate(LOSSES)], indent=1), "loss", "JSON"),
    "history.json": (json.dumps({"loss": LOSSES, "accuracy": [0.5] * 40}), "loss", "JSON"),
    "run.jsonl": (
        "".join(json.dumps({"_step": k, "train": {"loss": x}}) + "\n" for k, x in enumerate(LOSSES)),
        "train/loss",
        "JSON lines",
    ),
    "result.txt": (mlperf(), "tracked_stats/loss", "MLPerf"),
    "nanogpt.log": (
        "".join(f"iter {k}: loss {x!r}, time {k}ms, mfu 3.1%\n" for k, x in enumerate(LOSSES)),
        "loss",
        "text",
    ),
    "python.log": (
        "".join(f"2026-11-29 10:00:{k:02d},001 INFO - step={k} train loss: {x!r}\n" for k, x in enumerate(LOSSES)),
        "train loss",
        "text",
    ),
    "keras.out": (
        "".join(f"Epoch {k}/40\n 10/10 - 3s - loss: {x!r} - val_loss: {2 * x!r}\n" for k, x in enumerate(LOSSES)),
        "loss",
        "text",
    ),
    "tqdm.log": (
        "\r".join(f"training: {k}/40 [00:01, step={k}, loss={x!r}]" for k, x in enumerate(LOSSES)),
        "loss",
        "text",
    ),
    "no_steps.log": ("config lr=0.1\n" + "".join(f"loss={x!r}\n" for x in LOSSES), "loss", "text"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_format_is_told_and_its_values_are_read(name, tmp_path):
    text, variable, kind = TEXTS[name]
    (tmp_path / name).write_text(text, "utf-8")
    log = wb.read_log(tmp_path / name, until={variable: ("<", 1e-3)})
    assert log.format == kind
    assert np.asarray(log[variable].values).tolist() == LOSSES
    assert log.problems() == [] and log.reached is False
    assert "was not reached; at this pace" in log.forecast
    if name != "no_steps.log" and kind != "JSON" or name in ("trainer_state.json", "rows.json"):
        assert log.steps[:3] == [0, 1, 2] and len(log.steps) == 40


def test_validation_of_a_step_is_in_the_iteration_of_the_step(tmp_path):
    for name in ("metrics.csv", "trainer_state.json"):
        (tmp_path / name).write_text(TEXTS[name][0], "utf-8")
        log = wb.read_log(tmp_path / name)
        series = log["val_loss" if name == "metrics.csv" else "eval_loss"]
        assert series.iterations[:, -1].tolist() == [10, 20, 30, 40]
        assert np.asarray(series.values).tolist() == [2 * LOSSES[k] for k in (9, 19, 29, 39)]
    assert any("train_runtime" in note for note in log.notes)


@pytest.mark.parametrize("kind", [simple, tensor], ids=lambda f: f.__name__)
def test_event_files_of_a_folder_are_one_run(kind, tmp_path):
    first, second = b"", b""
    for k in range(20):
        first += event(k, "loss", kind(0.5**k)) + event(k, "accuracy", kind(1 - 0.5**k))
        second += event(20 + k, "loss", kind(0.5 ** (20 + k)))
    (tmp_path / "events.out.tfevents.1.host").write_bytes(first)
    (tmp_path / "events.out.tfevents.2.host").write_bytes(second[:-3])  # the run was killed
    log = wb.read_log(tmp_path)
    assert log.steps == list(range(39)) and log.names == ["step", "loss", "accuracy"]
    assert np.asarray(log["loss"].values).tolist() == [0.5**k for k in range(39)]
    assert log.notes == ["The file ends inside a record: the run was killed while it wrote."]
    damaged = bytearray(first)
    damaged[40] ^= 1
    (tmp_path / "events.out.tfevents.1.host").write_bytes(damaged)
    with pytest.raises(wb.WorkbenchError, match="checksum"):
        wb.read_log(tmp_path)


def test_the_first_nan_is_told_by_its_step(tmp_path):
    rows = [
        {"step": 10 * k, "loss": math.nan if k >= 7 else 1.0 / (k + 1), "norm": "Infinity" if k == 9 else k}
        for k in range(12)
    ]
    (tmp_path / "run.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    log = wb.read_log(tmp_path / "run.jsonl")
    assert log.problems() == [
        "loss is NaN in step 70 for the first time",
        "norm is infinite in step 90 for the first time",
    ]
    assert not log.healthy and log.report().splitlines()[1] == "loss is NaN in step 70 for the first time."


def test_a_log_of_many_names_is_read_whole(tmp_path):
    names = [f"loss {k}" for k in range(400)]
    (tmp_path / "wide.csv").write_text(",".join(names) + "\n" + ",".join(["1"] * 399 + ["nan"]) + "\n", "utf-8")
    log = wb.read_log(tmp_path / "wide.csv")
    assert log.names == names and log.problems() == ["loss 399 is NaN in iteration 1 for the first time"]


def test_what_was_to_be_reached(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text(TEXTS["metrics.csv"][0], "utf-8")
    met = wb.read_log(path, until={"train_loss": ("<", 0.1)})
    assert LOSSES[29] < 0.1 <= LOSSES[28] and met.forecast == "train_loss < 0.1 since iteration 30."
    ahead = wb.read_log(path, until={"train_loss": ("<", 0.02)})
    more = next(k for k in range(100) if 2.0 * 0.9**k < 0.02) - 39
    assert f"after about {more} more iterations" in ahead.forecast
    validation = wb.read_log(path, until={"val_loss": ("<", 0.1)})
    assert validation.reached is True and "since iteration 40" in validation.forecast
    (tmp_path / "rests.csv").write_text("loss\n" + "0.5\n" * 60, "utf-8")
    rests = wb.read_log(tmp_path / "rests.csv", until={"loss": ("<", 0.1)})
    assert rests.reached is False and rests.forecast.startswith("loss < 0.1 was not reached")


def test_a_log_is_a_record_like_any_other(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text(TEXTS["metrics.csv"][0], "utf-8")
    one, other = wb.read_log(path), wb.read_log(path)
    assert wb.classify(one["train_loss"]).label is wb.Pattern.CONVERGING
    assert wb.diff(one.trace, other.trace).equal
    assert [run.newest["train_loss"] for run in one.compare(other).runs] == [LOSSES[-1]] * 2
    assert one not in wb.recorder.watches() and one.end.standing.name == "IN_PROGRESS"
    one.save(tmp_path / "log.wbtrace")
    assert wb.Trace.load(tmp_path / "log.wbtrace")["train_loss"].values[-1] == LOSSES[-1]


def test_steps_that_go_back_are_noted(tmp_path):
    (tmp_path / "a.csv").write_text("step,loss\n" + "".join(f"{k},1\n" for k in [*range(100), *range(50, 90)]), "utf-8")
    log = wb.read_log(tmp_path / "a.csv")
    assert len(log.steps) == 140
    assert log.notes == ["Steps go back from 99 to 50 in row 101: the run was resumed, or the file holds two runs."]


def test_a_pattern_names_the_variables(tmp_path):
    lines = "".join(f"<<{k}>> r={x!r};\n" for k, x in enumerate(LOSSES))
    (tmp_path / "solver.out").write_text(f"banner\n{lines}", "utf-8")
    log = wb.read_log(tmp_path / "solver.out", pattern=r"<<(?P<step>\d+)>> r=(?P<residual>[^;]+);")
    assert np.asarray(log["residual"].values).tolist() == LOSSES and log.steps == list(range(40))
    for wrong, words in (("(", "not a pattern"), (r"r=\S+", "names no group"), ("(?P<a>x)", "has no numbers")):
        with pytest.raises(wb.WorkbenchError, match=words):
            wb.read_log(tmp_path / "solver.out", pattern=wrong)


def test_a_folder_is_a_run_for_each_log(tmp_path):
    (tmp_path / "one" / "logs").mkdir(parents=True)
    (tmp_path / "one" / "logs" / "events.out.tfevents.1").write_bytes(event(1, "loss", simple(0.5)))
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "metrics.csv").write_text("step,loss\n1,nan\n", "utf-8")
    (tmp_path / "notes.txt").write_text("nothing to see", "utf-8")
    (tmp_path / "away").symlink_to(tmp_path / "two")
    logs = wb.read_logs(tmp_path)
    assert [(log.name, log.healthy) for log in logs] == [("one/logs", True), ("two/metrics.csv", False)]
    with pytest.raises(wb.WorkbenchError, match="no log that could be read"):
        wb.read_logs(tmp_path / "two", pattern="(?P<x>nowhere)")
