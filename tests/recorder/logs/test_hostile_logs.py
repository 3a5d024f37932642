"""Files that are not logs, damaged files and malicious ones: one clear error, or a record of the readable part."""

from __future__ import annotations

import random

import pytest

import workbench as wb
from tests.recorder.logs.test_read_log import TEXTS, event, simple

REFUSED = {
    "empty.csv": (b"", "no numbers"),
    "binary.log": (b"\x00\x01" * 50, "not text"),
    "deep.json": (b"[" * 100_000, "not JSON"),
    "digits.json": (b'{"a": ' + b"9" * 10_000 + b"}", "not JSON"),
    "columns.csv": (b"a," * 20_000 + b"\n" + b"1," * 20_000, "columns"),
    "names.json": (b"[" + b",".join(b'{"n%d": 1}' % k for k in range(5_000)) + b"]", "names"),
    "line.log": (b"x" * (9 << 20), "in line 1"),
    "words.txt": (b"hello world\n" * 10, "no numbers"),
    "number.json": (b'{"log_history": 5}', "no numbers"),
    "head.wandb": (b":W&B\xe1\xbe\x00" + b"\x00" * 40, "no beginning"),
    "short.wandb": (b":W", "no numbers"),
    "huge.tfevents.1": (b"\xff" * 7 + b"\x7f" + b"\x00" * 40, "checksum"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_one_clear_error(name, tmp_path):
    data, words = REFUSED[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(wb.WorkbenchError, match=words) as caught:
        wb.read_log(tmp_path / name)
    assert caught.value.fix and caught.value.slug in ("bad-log", "too-large")


def test_a_record_that_claims_more_than_the_file_has(tmp_path):
    import struct

    from workbench.frontends.tf.checkpoint.crc32c import crc32c, masked

    for size in (1 << 20, 1 << 62):
        head = struct.pack("<Q", size)
        (tmp_path / "a.tfevents.1").write_bytes(
            event(1, "x", simple(1)) + head + struct.pack("<I", masked(crc32c(head)))
        )
        if size > 1 << 40:
            with pytest.raises(wb.WorkbenchError, match="at most"):
                wb.read_log(tmp_path / "a.tfevents.1")
        else:
            assert wb.read_log(tmp_path / "a.tfevents.1").notes


def test_names_are_written_out(tmp_path):
    (tmp_path / "a.csv").write_text("a\x1b[31m<script>,step\n1,1\n3,2\n", "utf-8")
    report = wb.read_log(tmp_path / "a.csv").report()
    assert "\x1b" not in report and "a\\x1b[31m<script>" in report


@pytest.mark.parametrize("name", TEXTS)
def test_cut_and_changed_files_give_a_log_or_an_error_of_ours(name, tmp_path):
    data = TEXTS[name][0].encode()
    rng, path, read = random.Random(name), tmp_path / name, 0
    for _ in range(40):
        changed = bytearray(data[: rng.randrange(len(data))] if rng.random() < 0.5 else data)
        for _ in range(rng.randrange(8)):
            if changed:
                changed[rng.randrange(len(changed))] = rng.randrange(256)
        path.write_bytes(changed)
        try:
            read += len(wb.read_log(path).report()) > 0
        except wb.WorkbenchError as error:
            assert error.fix
    assert read > 0
