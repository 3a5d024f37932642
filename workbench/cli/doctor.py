"""``workbench doctor``: checks whether everything that the workbench needs is installed, and suggests repairs."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from workbench.cli.output import print_document
from workbench.libraries import APART, DISTRIBUTION, NAMESAKE, install, lacking, namesake

OK, NOTE, BAD = "ok", "note", "missing"
MARKS = {OK: "ok     ", NOTE: "note   ", BAD: "MISSING"}

#: extra -> its purpose; the packages are listed in the project's metadata
EXTRAS = {
    "notebook": "panels and views in notebooks",
    "lab": "JupyterLab",
    "onnx": "ONNX models, and comparison with onnxruntime",
    "arrow": "traces that are larger than memory",
    "tensorflow": "TensorFlow ops that have no counterpart here",
    "jax": "functions of JAX, StableHLO programs",
    "torch": "loops of eager PyTorch, and ops of exported programs that have no counterpart here",
    "llvm": "machine code for long loops of numbers",
    "gpu": "arrays on an NVIDIA GPU",
}
#: JupyterLab's name of an extension -> its package, the state without it, its effect, the repair
_AGAIN = "pip install --force-reinstall {}, in the environment that starts JupyterLab"
EXTENSIONS = {
    "@jupyter-widgets/jupyterlab-manager": ("ipywidgets", BAD, "", f"{_AGAIN.format('ipywidgets')}."),
    "anywidget": ("anywidget", BAD, "", f"{_AGAIN.format('anywidget')}."),
    "workbench": (
        "workbench",
        NOTE,
        ": panels do not open in a tab, and the palette has no commands for them",
        f"{_AGAIN.format(DISTRIBUTION)}; with an editable install, make setup.",
    ),
}


@dataclass(frozen=True, slots=True)
class Check:
    """One check: ``state`` is ok, note (something optional is missing) or missing; ``fix`` is the repair."""

    name: str
    state: str
    text: str
    fix: str = ""


def add(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "doctor",
        help="check the installation and say how to repair it",
        description="Checks Python, the packages, the compiled kernels, the JupyterLab extensions and the extras. Exit "
        "status 1 if something required is missing.",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    # the checks must also run if the library cannot be loaded
    parser.set_defaults(run=_doctor, alone=True)


def _doctor(arguments: argparse.Namespace) -> int:
    found = list(findings())
    bad = [f for f in found if f.state == BAD]
    if arguments.json:
        print_document({"findings": [asdict(f) for f in found]})
        return bool(bad)
    width = max(len(f.name) for f in found)
    for f in found:
        print(f"{MARKS[f.state]}  {f.name:{width}}  {f.text}")
        if f.fix:
            print(f"{' ' * (width + 11)}-> {f.fix}")
    print(f"\n{'Everything required is installed.' if not bad else f'{len(bad)} missing: see the arrows.'}")
    return bool(bad)


def findings() -> Iterator[Check]:
    """All checks in order; a check that raises is a finding too."""
    checks: list[Callable[[], Iterator[Check]]] = [
        _python,
        _name,
        _packages,
        _kernels,
        _a_run,
        _jupyter,
        _extras,
        _disk,
        _notebooks,
        _browser,
    ]
    for check in checks:
        try:
            yield from check()
        except Exception as error:  # a broken installation may raise any exception
            text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            yield Check(
                check.__name__[1:].replace("_", " "), BAD, text, f"pip install --force-reinstall {DISTRIBUTION}."
            )


def _python() -> Iterator[Check]:
    import platform

    version = f"{platform.python_version()} at {sys.executable}, {platform.machine()}, {os.cpu_count()} cores"
    good = sys.version_info >= (3, 11)
    yield Check("python", OK if good else BAD, version, "" if good else "use Python 3.11 or later.")


def _name() -> Iterator[Check]:
    version = namesake()
    yield Check(
        "import name",
        BAD if version else OK,
        NAMESAKE.format(version) if version else f"workbench is the package of {DISTRIBUTION}",
        APART if version else "",
    )


def _requirements() -> list[str]:
    import importlib.metadata

    try:
        return importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return []


def _named(requirement: str) -> tuple[str, str]:
    """(package, versions) of a requirement in the metadata."""
    match = re.match(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?\s*([^;]*)", requirement)
    return (match[1], match[2].strip(" ()")) if match else (requirement, "")


def _fits(version: str, wanted: str) -> bool:
    """True if a version is in a range such as ``>=6.5,<8``; only numbers are compared."""

    def parts(text: str) -> list[int]:
        return [int(n) for n in re.findall(r"\d+", text)[:4]]

    for clause in filter(None, (c.strip() for c in wanted.split(","))):
        operator, limit = re.match(r"([<>=!~]*)\s*(.*)", clause).groups()  # type: ignore[union-attr]
        have, want = parts(version), parts(limit)
        size = max(len(have), len(want))
        have, want = have + [0] * (size - len(have)), want + [0] * (size - len(want))
        good = {
            ">=": have >= want,
            "<": have < want,
            "<=": have <= want,
            ">": have > want,
            "==": have == want,
            "!=": have != want,
            "~=": have >= want,
        }.get(operator, True)
        if not good:
            return False
    return True


def _packages() -> Iterator[Check]:
    required = [r for r in _requirements() if "extra ==" not in r]
    if not required:
        yield Check(
            "packages", BAD, f"{DISTRIBUTION} is not installed here", "pip install . in its sources, or make setup."
        )
    views = [r for extra in ("notebook", "lab") for r in _requirements_of(extra) if f"{DISTRIBUTION}[" not in r]
    for k, (name, wanted) in enumerate(map(_named, [*required, *views])):
        version = _installed(name)
        if version is None:
            if k < len(required):  # packages missing from an extra are reported there
                text = f"not installed, {wanted or 'any version'} is needed"
                yield Check(name, BAD, text, f"pip install '{name}{wanted}'")
        elif _fits(version, wanted):
            yield Check(name, OK, version)
        else:
            state = BAD if k < len(required) else NOTE
            yield Check(name, state, f"{version}, but {wanted} is needed", f"pip install '{name}{wanted}'")


def _requirements_of(extra: str) -> list[str]:
    return [r for r in _requirements() if re.search(f"extra == ['\"]{extra}['\"]", r)]


def _installed(name: str) -> str | None:
    """The version of a package; None if it is not installed."""
    import importlib.metadata

    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _kernels() -> Iterator[Check]:
    try:
        from workbench.kernels import build_info, typed
    except ImportError as error:
        yield Check(
            "compiled kernels",
            BAD,
            f"cannot be imported: {error}",
            "install again with a C++ compiler; next to the sources, start from another folder.",
        )
        return
    isa = getattr(typed, "isa", None)
    text = f"profile {build_info.type_profile}" + (f", {isa()}" if callable(isa) else "")
    good = bool(build_info.optimised)
    yield Check(
        "compiled kernels",
        OK if good else NOTE,
        text + ("" if good else ", built without optimisation"),
        "" if good else "build with -Dbuildtype=release.",
    )


def _a_run() -> Iterator[Check]:
    importlib.import_module("workbench.ops")
    from workbench.ir import GraphBuilder
    from workbench.session import Session

    b = GraphBuilder("doctor")
    a = b.placeholder("a", "float64")
    x = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})
    with Session(b.build(x), {"a": 2.0}) as session:
        session.run()
        good = abs(float(session.value("x")) - 2**0.5) < 1e-9
    yield Check(
        "a loop",
        OK if good else BAD,
        "runs, and computes the expected values" if good else "computes a wrong number",
        "" if good else "please report this, with the output of workbench doctor --json.",
    )


def _jupyter() -> Iterator[Check]:
    """The browser side: the extensions that JupyterLab finds."""
    if lacking("lab"):
        yield Check("browser side", NOTE, "JupyterLab is not installed here", f"{install('lab')}, if you want it.")
        return
    roots = [Path(sys.prefix) / "share" / "jupyter"]
    if importlib.util.find_spec("jupyter_core") is not None:
        from jupyter_core.paths import jupyter_path

        roots = [Path(p) for p in jupyter_path()]
    for name, (package, state, without, fix) in EXTENSIONS.items():
        where = next((r / "labextensions" / name for r in roots if (r / "labextensions" / name).is_dir()), None)
        text = f"JupyterLab does not find its extension{without}" if where is None else str(where)
        yield Check(f"browser side of {package}", OK if where else state, text, "" if where else fix)
    kernels = [r / "kernels" for r in roots if any((r / "kernels").glob("*/kernel.json"))]
    yield Check(
        "notebook kernel",
        OK if kernels else BAD,
        str(kernels[0]) if kernels else "no kernel is installed",
        "" if kernels else "pip install ipykernel.",
    )


def _extras() -> Iterator[Check]:
    for extra, purpose in EXTRAS.items():
        versions = [(name, wanted, _installed(name)) for name, wanted in map(_named, _requirements_of(extra))]
        troubles = [f"{n} is {v}, but {w} is needed" for n, w, v in versions if v is not None and not _fits(v, w)]
        if absent := [n for n, _, v in versions if v is None]:
            troubles.append(f"{' and '.join(absent)} {'is' if len(absent) == 1 else 'are'} not installed")
        if troubles:
            yield Check(
                f"extra {extra}", NOTE, f"{purpose}: {'; '.join(troubles)}", f"{install(extra)}, if you want it."
            )
        else:
            yield Check(f"extra {extra}", OK, purpose)


def _disk() -> Iterator[Check]:
    import tempfile

    free = shutil.disk_usage(tempfile.gettempdir()).free
    good = free > 1 << 30
    yield Check(
        "temporary folder",
        OK if good else NOTE,
        f"{free / (1 << 30):.1f} GiB free in {tempfile.gettempdir()}",
        "" if good else "set TMPDIR to a folder with more room before recording long runs.",
    )


def _notebooks() -> Iterator[Check]:
    from workbench.cli.lab import course

    where = course()
    yield Check(
        "course",
        OK if where else NOTE,
        str(where) if where else "the notebooks were not found",
        "" if where else "workbench course writes them into a folder.",
    )


def _browser() -> Iterator[Check]:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    yield Check(
        "chromium",
        OK if found else NOTE,
        found or "not found; only the browser tests need it",
        "" if found else "apt-get install chromium, to run the browser tests.",
    )
