"""Fuzz targets: one function per public entry point, from bytes to nothing.

Each lets out nothing but WorkbenchError, which has a slug and a sentence, and takes at most a second of this process's
time. ``tests/fuzz/run.py`` drives them with atheris, ``test_targets.py`` with the seeds alone.
"""

from __future__ import annotations

import functools
import itertools
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.frontends.tf.checkpoint import slices, snappy, sstable, strings

DATA = Path(__file__).resolve().parents[1] / "frontends" / "data"
_PRINTABLE = bytes(b if b in (9, 10) or 32 <= b < 127 else 33 + b % 94 for b in range(256))

#: seconds of processor time that one input may take; coverage counters cost several times the plain time
SECONDS = 2.0


def graphdef(raw: bytes) -> None:
    _kept(wb.from_graphdef(raw))


def pbtxt(raw: bytes) -> None:
    """As text whatever the bytes: bytes that are not text would only be rejected."""
    _kept(wb.from_graphdef(b"node " + raw.translate(_PRINTABLE)))


def saved_model(raw: bytes) -> None:
    """With the variables of a model of the tests, so that the way from a variable to the checkpoint is walked too."""
    with _folder() as folder:
        (folder / "variables").symlink_to(DATA / "saved_v1" / "variables")
        (folder / "saved_model.pb").write_bytes(raw)
        _kept(wb.from_saved_model(folder))


def checkpoint(raw: bytes) -> None:
    """Below the checksums, which no mutation would get past: blocks, compression, strings, slices."""
    for parse in (
        lambda: [*sstable._entries(raw, sstable._Budget())],
        lambda: snappy.decompress(raw, 1 << 20),
        lambda: strings.read_strings(raw, (len(raw) % 9,), 0, "x"),
        lambda: slices.parse_slice(raw.decode("utf-8", "replace")),
    ):
        try:
            parse()
        except WorkbenchError:
            continue


def onnx(raw: bytes) -> None:
    _kept(wb.from_onnx(raw))


def samediff(raw: bytes) -> None:
    _kept(wb.from_samediff(raw))


def graph_text(raw: bytes) -> None:
    _kept(wb.parse(raw.decode("utf-8", "surrogateescape")))


def trace(raw: bytes) -> None:
    """One member of a good trace is replaced: the first byte says which, the rest is its content. (Nearly all changes
    of a whole archive only break a checksum.)"""
    members = saved_trace()
    names = sorted(members)
    with _folder() as folder:
        with zipfile.ZipFile(folder / "trace", "w") as file:
            for i, name in enumerate(names):
                file.writestr(name, raw[1:] if raw and raw[0] % len(names) == i else members[name])
        loaded = wb.Trace.load(folder / "trace")
        for event in itertools.islice(loaded.events(), 50):
            str(event)
        for name in itertools.islice(loaded.graph.nodes, 20):
            loaded.firings(name)


def stablehlo(raw: bytes) -> None:
    """A text, bytecode, or a blob of jax.export."""
    from workbench.frontends.stablehlo import convert_program

    _kept(convert_program(raw, None, "program", "program"))


def pt2(raw: bytes) -> None:
    """One member of a good archive is replaced, as in ``trace``; 255 stands for the whole file."""
    from tests.frontends.pt2_files import archive
    from workbench.frontends.pytorch import from_exported

    members = exported_members()
    names = sorted(members)
    data = raw[1:]
    if raw[:1] != b"\xff":
        at = raw[0] % len(names) if raw else 0
        data = archive({n: raw[1:] if k == at else members[n] for k, n in enumerate(names)})
    _kept(from_exported(data))


@functools.cache
def exported_members() -> dict[str, bytes]:
    """The members of a program with a layer and a loop over a dynamic size."""
    from tests.frontends.pt2_files import members

    return members((DATA / "pt2" / "recurrence.pt2").read_bytes())


@functools.cache
def saved_trace() -> dict[str, bytes]:
    """The members of a trace of a small loop."""
    b = wb.GraphBuilder("halves")
    x = b.while_loop(lambda x: x > 1.0, lambda x: x * 0.5, {"x": b.placeholder("a", "float64", ())})
    session = wb.Session(b.build(x), {"a": 8.0}, trace="all")
    session.run()
    with _folder() as folder:
        session.trace.save(folder / "trace")
        with zipfile.ZipFile(folder / "trace") as file:
            return {name: file.read(name) for name in file.namelist()}


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        yield Path(name)


def _kept(graph: wb.Graph) -> None:
    """A value that was read can be written and read again."""
    assert wb.parse(graph.text()) == graph


TARGETS: dict[str, Callable[[bytes], None]] = {
    "graphdef": graphdef,
    "pbtxt": pbtxt,
    "saved_model": saved_model,
    "checkpoint": checkpoint,
    "onnx": onnx,
    "samediff": samediff,
    "graph_text": graph_text,
    "trace": trace,
    "stablehlo": stablehlo,
    "jax_export": stablehlo,
    "pt2": pt2,
}
#: targets that need a library which the development environment does not have: (its name, marker of the tests, seconds)
NEEDS = {"stablehlo": ("jax", "jax", 20.0), "jax_export": ("jax", "jax", 20.0)}


def check(name: str, raw: bytes, seconds: float = SECONDS) -> str:
    """Run one input; the slug of the error that it gave, or "" for none."""
    slug = ""
    start = time.process_time()
    try:
        TARGETS[name](raw)
    except WorkbenchError as error:
        assert error.slug and error.message and str(error)
        slug = error.slug
    spent = time.process_time() - start
    assert spent <= seconds, f"{name}: {len(raw)} bytes took {spent:.2f} s"
    return slug
