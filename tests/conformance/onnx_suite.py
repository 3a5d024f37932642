"""ONNX's own backend test suite against the workbench, and what became of each case.

``python -m tests.conformance.onnx_suite [--kind KIND] [--seconds S] [NAME ...]`` runs the cases that the installed
onnx package brings (kinds: node, simple, pytorch-converted, pytorch-operator, light; all by default, or those whose
names hold one of the given ones) and prints passed and failed by kind, then the failures grouped by reason.

A case passes if the suite's own comparison passes and a stricter one too: as many outputs, as many elements in a
sequence, the same dtypes. Cases run in a process of their own, one after the other; one that takes longer than
``--seconds`` counts as failed, and the process is replaced.
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import multiprocessing
import os
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

from workbench.errors import WorkbenchError
from workbench.frontends.onnx.backend import WorkbenchBackend

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "light")
SECONDS = 60.0
_PACKAGE = Path(onnx.__file__).resolve().parent


@dataclass(frozen=True)
class Result:
    """``reason`` is empty for a case that passed."""

    kind: str
    name: str
    reason: str = ""


def cases(kind: str) -> dict[str, Any]:
    """Cases of a kind by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the makers of some cases overflow on purpose
        found = load_model_tests(kind="real" if kind == "light" else kind)
    return {case.name: case for case in sorted(found, key=lambda c: c.name)}


def check(case: Any) -> None:
    """Run one case; raises where anything differs."""
    model = case.model
    if model is None:
        model = onnx.load(_light(case) if case.url else Path(case.model_dir) / "model.onnx")
    prepared = WorkbenchBackend.prepare(model, "CPU")
    data = list(_data(case, model))
    if not data:
        raise AssertionError("the case has no data")
    for inputs, expected in data:
        got = list(prepared.run(inputs))
        similar(got, expected, case)


def _data(case: Any, model: Any) -> Iterator[tuple[list[Any], list[Any]]]:
    """Inputs and expected outputs of each data set."""
    if case.data_sets is not None:
        for inputs, expected in case.data_sets:
            yield [_plain(v) for v in inputs], [_plain(v) for v in expected]
        return
    if case.url:  # a light model: its input is made by a rule, its output lies beside it
        given = {t.name for t in model.graph.initializer}
        free = [i for i in model.graph.input if i.name not in given]
        path = str(_light(case)).removesuffix(".onnx")
        files = [f"{path}_output_{i}.pb" for i in range(len(model.graph.output))]
        yield [Runner.generate_dummy_data(i) for i in free], [numpy_helper.to_array(onnx.load_tensor(f)) for f in files]
        return
    for folder in sorted(glob.glob(os.path.join(glob.escape(case.model_dir), "test_data_set*"))):
        yield _read(folder, "input", model.graph.input), _read(folder, "output", model.graph.output)


def _light(case: Any) -> Path:
    return _PACKAGE.parent / case.url


def _read(folder: str, what: str, infos: Any) -> list[Any]:
    values: list[Any] = []
    for i in range(len(glob.glob(os.path.join(glob.escape(folder), f"{what}_*.pb")))):
        data = Path(folder, f"{what}_{i}.pb").read_bytes()
        kind = infos[i].type.WhichOneof("value")
        if kind == "sequence_type":
            values.append(numpy_helper.to_list(onnx.SequenceProto.FromString(data)))
        elif kind == "optional_type":
            values.append(numpy_helper.to_optional(onnx.OptionalProto.FromString(data)))
        else:
            values.append(numpy_helper.to_array(onnx.TensorProto.FromString(data)))
    return values


def _plain(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def similar(got: list[Any], expected: list[Any], case: Any) -> None:
    """The suite's comparison; of a sequence it would take each element for a list of outputs, and so fail for scalars
    and see no dtypes, so its elements are compared as the outputs that they are."""
    _same_kind(got, expected)
    for one, other in zip(got, expected, strict=True):
        parts = (list(other), list(one)) if isinstance(other, (list, tuple)) else ([other], [one])
        if other is not None:
            Runner.assert_similar_outputs(*parts, rtol=case.rtol, atol=case.atol, model_dir=case.model_dir)


def _same_kind(got: Any, expected: Any) -> None:
    """Compares also what the suite ignores: lengths of sequences, None for a value, integers that differ by little."""
    if isinstance(expected, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(got) != len(expected):
            raise AssertionError(f"a sequence of {len(expected)} was expected, but got {got!r}")
        for one, other in zip(got, expected, strict=True):
            _same_kind(one, other)
    elif expected is None or got is None:
        if got is not expected:
            raise AssertionError(f"{expected!r} was expected, but got {got!r}")
    else:
        if np.asarray(got).dtype != np.asarray(expected).dtype or np.shape(got) != np.shape(expected):
            raise AssertionError(f"{np.asarray(expected).dtype} was expected, but got {np.asarray(got).dtype}")
        if np.asarray(expected).dtype.kind in "biuO":
            np.testing.assert_array_equal(got, expected)


def outcome(case: Any) -> str:
    """Why the case fails; empty if it passes."""
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(case)
    except WorkbenchError as error:
        return f"{error.slug}: {error.message}"
    except AssertionError as error:
        return f"differs: {' '.join(str(error).split())}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _worker(pipe: Any, wanted: Sequence[Any]) -> None:
    while (index := pipe.recv()) is not None:
        pipe.send(outcome(wanted[index]))


def run(wanted: Sequence[Any], seconds: float = SECONDS) -> Iterator[str]:
    """The outcome of each case, from one process that is replaced when a case does not end or ends it."""
    context = multiprocessing.get_context("fork")
    process, pipe = None, None
    for index in range(len(wanted)):
        if process is None:
            pipe, theirs = context.Pipe()
            process = context.Process(target=_worker, args=(theirs, wanted), daemon=True)
            process.start()
            theirs.close()
        assert pipe is not None
        pipe.send(index)
        try:
            reason = pipe.recv() if pipe.poll(seconds) else f"no end within {seconds:g} s"
        except EOFError:
            reason = "the process ended"
        if reason.startswith(("no end within", "the process ended")):
            process.kill()
            process.join()
            process = None
        yield reason
    if process is not None and pipe is not None:
        pipe.send(None)
        process.join()


def results(kinds: Sequence[str], names: Sequence[str] = (), seconds: float = SECONDS) -> list[Result]:
    """Outcomes of all cases of these kinds, or of those whose names hold one of ``names``."""
    found: list[Result] = []
    for kind in kinds:
        table = {n: c for n, c in cases(kind).items() if not names or any(part in n for part in names)}
        outcomes = run(list(table.values()), seconds)
        found += [Result(kind, n, reason) for n, reason in zip(table, outcomes, strict=True)]
    return found


def report(found: Sequence[Result]) -> str:
    """The table and the failures, grouped by the first words of their reasons."""
    lines = [f"{'kind':20} passed failed    all   (onnx {onnx.__version__})"]
    for kind in dict.fromkeys(r.kind for r in found):
        count = Counter(not r.reason for r in found if r.kind == kind)
        lines.append(f"{kind:20} {count[True]:6} {count[False]:6} {count.total():6}")
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in found:
        if result.reason:
            groups[result.reason.partition(":")[0]].append(result)
    for label, members in sorted(groups.items(), key=lambda g: -len(g[1])):
        lines.append(f"\n{label}: {len(members)}")
        lines += [f"  {m.name}: {m.reason.partition(': ')[2][:300]}" for m in members]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.onnx_suite")
    parser.add_argument("names", nargs="*", help="parts of names of cases")
    parser.add_argument("--kind", action="append", choices=KINDS, help="may be given more than once")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for one case")
    options = parser.parse_args(arguments)
    found = results(options.kind or KINDS, options.names, options.seconds)
    print(report(found))
    return int(any(r.reason for r in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
