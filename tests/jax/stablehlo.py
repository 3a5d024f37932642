"""StableHLO's own test data: programs with their inputs, and what must come out.

``python -m tests.jax.stablehlo`` runs the half of the data that is beside the repository and prints each program that
does not give what it should, with the reason, and the counts; ``interpret`` as argument runs the files of the
interpreter's tests, function by function.

The data checks itself by calls to ``check.expect_*``, which only StableHLO's interpreter knows. Here they are taken out
before a program is read, and what they would compare becomes the results of ``main``, in pairs.
"""

from __future__ import annotations

import argparse
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tests.conformance.corpora import FOLDER, MISSING
from tests.jax.harness import report
from workbench.errors import WorkbenchError

ARCHIVE = FOLDER / "stablehlo_testdata_half.zip"
#: units in the last place by which results of expect_close may differ, and the distance for expect_almost_eq
ULPS, DISTANCE = 3, 1e-4
#: the two results of a check as the interpreter's tests write it, with an optional constant and options
_CHECK = re.compile(
    r"^(?P<space> *)check\.(?P<kind>expect_\w+?)(?P<const>_const)? (?P<left>%[\w#.]+), "
    r"(?P<right>%[\w#.]+|dense<[^>]*>)(?P<options> \{[^}\n]*\})? : (?P<type>[^\n]+)$",
    re.MULTILINE,
)


class Check(NamedTuple):
    """One comparison: its kind, units in the last place and distance."""

    kind: str
    ulps: int
    distance: float


class Outcome(NamedTuple):
    """``kind`` is equal, refused (with the reason), differs or raised."""

    case: str
    kind: str
    text: str = ""


def programs(folder: str = "testdata") -> Iterator[tuple[str, str]]:
    """Name and text of the programs of a folder of the archive."""
    with zipfile.ZipFile(ARCHIVE) as archive:
        for name in sorted(archive.namelist()):
            if f"{folder}/" in name and name.endswith(".mlir"):
                yield name.rpartition("/")[2].removesuffix(".mlir"), archive.read(name).decode()


def functions(text: str) -> Iterator[tuple[str, str]]:
    """The functions with checks of a file of the interpreter's tests: name, and the part of the file that it is in."""
    for part in re.split(r"^// -----.*$", text, flags=re.MULTILINE):
        spelled = _spelled(part)
        for name in re.findall(r"func\.func (?:public )?@([\w.]+)\(\)", spelled):
            yield name, spelled


def _spelled(part: str) -> str:
    """A part with its checks as calls, as the other test data writes them."""
    number = iter(range(1_000_000))

    def call(match: re.Match[str]) -> str:
        space, left, right, type_ = match["space"], match["left"], match["right"], match["type"]
        lines = []
        if match["const"]:
            wanted = f"%wanted{next(number)}"
            lines.append(f"{space}{wanted} = stablehlo.constant {right} : {type_}")
            right, type_ = wanted, f"{type_}, {type_}"
        options = f", options = {json.dumps(match['options'] or '')}"
        call_ = f"stablehlo.custom_call @check.{match['kind']}({left}, {right})"
        lines.append(f"{space}{call_} {{has_side_effect = true{options}}} : ({type_}) -> ()")
        return "\n".join(lines)

    return _CHECK.sub(call, re.sub(r",\n +dense", ", dense", part))


def rewritten(text: str, entry: str = "main") -> tuple[str, list[Check]]:
    """The program without its checks, whose pairs are what ``main`` returns; and the checks."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func

    from workbench.frontends.stablehlo.library import context

    module = ir.Module.parse(text, context())
    found: list[Any] = []
    checks: list[Check] = []
    for function in list(module.body.operations):
        name = ir.StringAttr(function.attributes["sym_name"]).value
        if name != entry:
            if entry != "main" and not name.startswith("_") and _has_checks(function):
                function.operation.erase()
            continue
        block = function.regions[0].blocks[0]
        for operation in list(block.operations):
            if operation.operation.name == "stablehlo.custom_call" and "@check." in str(operation).replace('"', ""):
                found += list(operation.operands)
                checks.append(_check(operation))
                operation.operation.erase()
        with context(), ir.Location.unknown():
            last = block.operations[len(block.operations) - 1]
            with ir.InsertionPoint(last):
                func.ReturnOp(found)
            last.operation.erase()
            kind = ir.FunctionType.get([a.type for a in block.arguments], [v.type for v in found])
            function.attributes["function_type"] = ir.TypeAttr.get(kind)
            function.attributes["sym_name"] = ir.StringAttr.get("main")
            if "res_attrs" in function.attributes:
                del function.attributes["res_attrs"]
    return module.operation.get_asm(), checks


def _has_checks(function: Any) -> bool:
    return "@check." in function.operation.get_asm(large_elements_limit=4)


def _check(operation: Any) -> Check:
    text = operation.operation.get_asm(large_elements_limit=4)
    kind = re.search(r"check\.(expect_\w+)", text)[1]
    ulps = re.search(r"max_ulp_difference = (\d+)", text)
    distance = re.search(r"tolerance = ([\d.eE+-]+)", text)
    return Check(kind, int(ulps[1]) if ulps else ULPS, float(distance[1]) if distance else DISTANCE)


def outcome(name: str, text: str, entry: str = "main") -> Outcome:
    """One program, read and run here, and held against its own checks."""
    import workbench as wb

    try:
        program, checks = rewritten(text, entry)
    except Exception as error:
        return Outcome(name, "refused", f"jaxlib cannot read it: {' '.join(str(error).split())[:200]}")
    if not checks:
        return Outcome(name, "refused", "it checks nothing")
    try:
        made = list(wb.load(program.encode()).run().values())
    except WorkbenchError as error:
        refused = error.slug in ("unknown-op", "unsupported-stablehlo-type")
        return Outcome(name, "refused" if refused else "raised", str(error)[:400])
    except Exception as error:
        return Outcome(name, "raised", f"{type(error).__name__}: {str(error)[:400]}")
    assert len(made) == 2 * len(checks)
    for k, check in enumerate(checks):
        if (found := departs(np.asarray(made[2 * k]), np.asarray(made[2 * k + 1]), check)) is not None:
            return Outcome(name, "differs", f"check {k}: {found}")
    return Outcome(name, "equal")


def departs(given: np.ndarray, wanted: np.ndarray, check: Check) -> str | None:
    """The first place where a result departs from what a check asks for; None if it does not."""
    if given.dtype != wanted.dtype or given.shape != wanted.shape:
        return f"{given.dtype}{list(given.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
    if given.dtype.kind == "c":
        parts = [(given.real, wanted.real), (given.imag, wanted.imag)]
        return next((d for a, b in parts if (d := departs(a, b, check)) is not None), None)
    a, b = given.ravel(), wanted.ravel()
    whole = given.dtype.kind in "biu"
    if whole or check.kind == "expect_eq":
        same = (a == b) | ((a != a) & (b != b))
    else:
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        same = (wide_a == wide_b) | (np.isnan(wide_a) & np.isnan(wide_b))
        with np.errstate(invalid="ignore"):
            if check.kind == "expect_almost_eq":
                same |= np.abs(wide_a - wide_b) <= check.distance
            else:
                apart = ulps_between(a, b)
                same |= (apart <= check.ulps) & np.isfinite(wide_a) & np.isfinite(wide_b)
    if same.all():
        return None
    at = int(np.flatnonzero(~same)[0])
    most = "" if whole else f", {int(ulps_between(a, b)[~same].max()):,} units in the last place at most"
    return f"{a[at]!r} instead of {b[at]!r} at element {at} ({int((~same).sum())} of {a.size}{most})"


def ulps_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How many numbers of their dtype lie between two arrays of floats, element by element."""
    bits = np.dtype(f"i{a.dtype.itemsize}")

    def place(x: np.ndarray) -> np.ndarray:
        signed = x.view(bits).astype(object)
        low = -(1 << (8 * a.dtype.itemsize - 1))
        return np.array([n if n >= 0 else low - n for n in signed], object)

    return np.abs(place(np.ascontiguousarray(a)) - place(np.ascontiguousarray(b)))


def cases(folder: str) -> Iterator[tuple[str, str, str]]:
    """Name, text and entry function of what a folder tests."""
    for name, text in programs(folder):
        if folder == "testdata":
            yield name, text, "main"
        else:
            for function, part in functions(text):
                yield f"{name}/{function}", part, function


def main() -> int:
    from workbench.frontends.stablehlo.foreign import call_of

    parser = argparse.ArgumentParser(description="StableHLO's own test data.")
    parser.add_argument("folder", nargs="?", default="testdata", choices=["testdata", "interpret"])
    parser.add_argument("--only", default="", help="a part of the name")
    chosen = parser.parse_args()
    if not ARCHIVE.exists():
        print(MISSING)
        return 1
    chosen_cases = (case for case in cases(chosen.folder) if chosen.only in case[0])
    return report((outcome(*case) for case in chosen_cases), call_of.cache_clear)


if __name__ == "__main__":
    raise SystemExit(main())
