"""``workbench sweep``: a model at many points of its inputs; progress, a table and a map in text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from workbench.cli.inputs import add_inputs, feeds_of
from workbench.cli.layout import columns, table
from workbench.cli.numbers import whole
from workbench.cli.output import print_json, show, tell
from workbench.cli.sources import open_graph
from workbench.cli.sweep.axes import axes_of
from workbench.errors import SweepError

#: characters for outcomes in a map, and shades of numbers from low to high
SIGNS = {"ended": ".", "not finite": "!", "endless": "o", "undecided": "?", "failed": "x", "waiting": " "}
SHADES = " .:-=+*#%@"
#: maximum rows and columns of a map, and rows of a table
MAP_ROWS, MAP_COLUMNS, ROWS = 24, 72, 20


def add(commands: argparse._SubParsersAction) -> None:
    """Create the parser of this command."""
    parser = commands.add_parser(
        "sweep",
        help="run a model at many points of its inputs, and compare",
        description="Runs a model once for each combination of the values of --grid. Exit status: 0 all points were "
        "run, 1 error, 130 interrupted (finished points are printed, and stay in --store).",
    )
    parser.add_argument("model", metavar="MODEL", type=Path, help="model file, or the folder of a SavedModel")
    parser.add_argument(
        "-g",
        "--grid",
        metavar="NAME=VALUES",
        action="append",
        required=True,
        help="values of an input; may be repeated: LOW:HIGH:COUNT, LOW:HIGH:COUNT:log, or A,B,C",
    )
    add_inputs(parser)
    parser.add_argument("--collect", metavar="WHAT", action="append", help="an output, x[-64:], label, rate, proof ...")
    parser.add_argument("--show", metavar="COLUMN", default="outcome", help="column of the map (default: %(default)s)")
    parser.add_argument("--work", metavar="EVENTS", type=whole(1), help="events after which a point is left undecided")
    parser.add_argument("--threads", metavar="N", type=whole(1), help="number of threads (default: number of cores)")
    parser.add_argument(
        "--store", metavar="FOLDER", type=Path, help="write results to Parquet files here, and resume from them"
    )
    parser.add_argument("--html", metavar="FILE", type=Path, help="write the picture as a page that works offline")
    parser.add_argument("--json", action="store_true", help="print counts and columns as JSON")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from workbench.sweep import sweep
    from workbench.sweep.problem import WORK

    graph = open_graph(arguments.model, [])
    axes = axes_of(arguments.grid)
    twice = [given for given in arguments.input if given.partition("=")[0].strip() in axes]
    if twice:
        raise SweepError(f"--input {twice[0][:80]!r} is also in --grid.", slug="fed-twice", fix="give it once.")
    folder = arguments.html.absolute().parent if arguments.html else None
    if folder and not folder.is_dir():  # checked before all points are run
        raise SweepError(
            f"--html {str(arguments.html)[:200]!r}: there is no folder {str(folder)[:200]!r}.",
            slug="no-such-folder",
            fix="make the folder first, or name another one.",
        )
    arguments.input = [*arguments.input, *(f"{name}={values[0]:.17g}" for name, values in axes.items())]
    inputs = {name: value for name, value in feeds_of(graph, arguments).items() if name not in axes}
    found = sweep(
        graph,
        axes,
        inputs=inputs,
        collect=arguments.collect,
        work=arguments.work or WORK,
        threads=arguments.threads,
        store=arguments.store,
        wait=False,
    )
    try:
        found[arguments.show]
    except SweepError as error:  # checked before all points are run
        found.cancel()
        raise SweepError(f"--show {arguments.show[:80]!r}: {error.message}", slug=error.slug, fix=error.fix) from None
    found.subscribe(_progress)
    found.wait()
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    tell(found)
    if arguments.html:
        sys.modules["workbench"].Sweep.view(found, arguments.show).to_html(arguments.html)
    if arguments.json:
        print_json({"state": found.state, "columns": {n: found[n].tolist() for n in found.names if found[n].ndim == 1}})
    else:
        show(text_map(found, arguments.show) + "\n" + text_table(found), pages=False)
    return 0 if found.state == "finished" else 130


def _progress(found: Any) -> None:
    if sys.stderr.isatty():
        done = int((found["outcome"] != "waiting").sum())
        print(f"\r{done:,} of {len(found):,} points", end="", file=sys.stderr, flush=True)


def text_map(found: Any, column: str) -> str:
    """The column as characters over the first two axes, the first to the right and the second upwards. Empty if there
    is only one axis."""
    import numpy as np

    axes = [name for name in found.points if len(found.design.axes[name]) > 1]
    picture = found.grid(column)
    if len(axes) < 2 or picture.ndim > len(found.shape):
        return ""
    cut = tuple(slice(None) if name in axes[:2] else 0 for name in found.points)
    # in the order stated below the map
    across, up = (np.argsort(found.design.axes[name], kind="stable") for name in axes[:2])
    picture = picture[cut][np.ix_(across, up)].T[::-1]
    rows = np.linspace(0, picture.shape[0] - 1, min(MAP_ROWS, picture.shape[0])).round().astype(int)
    places = np.linspace(0, picture.shape[1] - 1, min(MAP_COLUMNS, picture.shape[1])).round().astype(int)
    part = picture[np.ix_(rows, places)]
    if part.dtype.kind in "iuf":
        finite = part[np.isfinite(part)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
        span = (high - low) or 1.0
        sign = lambda v: "!" if not np.isfinite(v) else SHADES[int((v - low) / span * (len(SHADES) - 1))]  # noqa: E731
        legend = f"{column}: {SHADES[0]!r} {low:.6g} to {SHADES[-1]!r} {high:.6g}"
    else:
        kinds = dict(SIGNS) if column == "outcome" else {}
        for kind in np.unique(part.astype(str)):
            kinds.setdefault(str(kind), "abcdefghijklmnopqrstuvw"[len(kinds) % 23] if kind else " ")
        sign = lambda v: kinds[str(v)]  # noqa: E731
        legend = f"{column}: " + ", ".join(f"{kinds[str(k)]!r} {k}" for k in np.unique(part.astype(str)) if k)
    lines = ["".join(sign(v) for v in row) for row in part]
    span_of = lambda name: f"{name} {found.points[name].min():.6g} to {found.points[name].max():.6g}"  # noqa: E731
    return "\n".join([*lines, f"{span_of(axes[0])} to the right, {span_of(axes[1])} upwards", legend, ""])


def text_table(found: Any) -> str:
    """A table of evenly spaced points."""
    import numpy as np

    names = [
        name for name in found.names if found[name].ndim == 1 and name not in ("failure", "events", "recurs_after")
    ]
    picked = np.unique(np.linspace(0, len(found) - 1, min(ROWS, len(found))).round().astype(int))
    cells = [tuple(names)]
    for k in picked:
        row = [found[name][k] for name in names]
        cells.append(tuple(f"{v:.6g}" if getattr(v, "dtype", np.dtype("O")).kind == "f" else str(v) for v in row))
    return table(cells, width=columns(sys.stdout))
