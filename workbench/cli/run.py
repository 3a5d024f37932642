"""``workbench run``: runs a model to its end, prints its outputs, and saves its trace on request."""

from __future__ import annotations

import argparse
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

from workbench.cli.inputs import add_inputs
from workbench.cli.inspect import report_data, report_text
from workbench.cli.layout import clip, columns, table
from workbench.cli.numbers import MOST_SECONDS, real
from workbench.cli.output import as_json, error_facts, print_json, show, tell, value_text
from workbench.cli.sources import add_keep, add_model, make_session, open_graph, random_inputs, tell_made_up
from workbench.text import printable

#: status of a run that was interrupted, or exceeded its time limit
UNFINISHED = 3
STATUSES = (
    "0 finished, 1 error, 3 not finished, 4 finished but a loop was cut off at its limit, 5 finished but a loop ended "
    "because of NaN"
)
Ends = dict[tuple[str, ...], Any]


def add(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "run",
        help="run a model and print its outputs",
        description="Runs an ONNX model, a TensorFlow, SameDiff, StableHLO or saved graph. Ctrl-C pauses it; "
        f"everything recorded so far is still saved. Exit status: {STATUSES}.",
    )
    add_model(parser)
    add_inputs(parser)
    add_keep(parser, None)
    parser.add_argument(
        "-o",
        "--output",
        metavar="NAME",
        action="append",
        default=[],
        help="value to compute; may be repeated (default: the outputs of the model)",
    )
    parser.add_argument("--trace", metavar="FILE", type=Path, help="save the trace of the run (.wbtrace)")
    parser.add_argument("--save", metavar="FILE", type=Path, help="save the outputs (.npz)")
    parser.add_argument("--seconds", metavar="S", type=real(MOST_SECONDS), help="pause after this many seconds")
    parser.add_argument("--report", action="store_true", help="report how each loop and variable evolved, and why")
    parser.add_argument("--json", action="store_true", help="print outputs and facts as JSON")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from workbench.analysis.ends.all_loops import exit_status, loop_ends

    graph = open_graph(arguments.model, arguments.output, arguments.unroll_recurrent)
    keep = arguments.keep or ("all" if arguments.trace or arguments.report else "off")
    session = make_session(graph, arguments, keep)
    try:
        began = time.perf_counter()
        session.run(wait=False)
        try:
            stop = session.wait(arguments.seconds)
        except KeyboardInterrupt:
            stop = None
        if stop is None:
            stop = session.pause()
        took = time.perf_counter() - began
        outputs, dead = _outputs(session)
        ends = loop_ends(session)
        if arguments.trace:
            session.trace.save(arguments.trace)
        if arguments.save:
            _save(arguments.save, outputs)
        if arguments.json:
            facts = _facts(session, stop, took, outputs, dead, ends) | {"random_inputs": random_inputs(arguments)}
            print_json(facts | ({"report": report_data(session)} if arguments.report else {}))
        else:
            _print(session, stop, took, outputs, dead)
            _tell_ends(session, ends)
            if arguments.report:
                show("\n" + report_text(session, columns(sys.stdout)))
        if session.state == "failed":
            tell_made_up(arguments)
        return {"finished": exit_status(ends), "failed": 1}.get(session.state, UNFINISHED)
    finally:
        session.close()


def _outputs(session: Any) -> tuple[dict[str, Any], list[str]]:
    """(outputs that were computed, names of dead outputs)."""
    from workbench.errors import DeadValueError

    outputs, dead = {}, []
    for name in session.graph.outputs if session.state == "finished" else ():
        try:
            outputs[name] = session.value(name)
        except DeadValueError:
            dead.append(name)
    return outputs, dead


def _save(path: Path, outputs: dict[str, Any]) -> None:
    import numpy as np

    from workbench.errors import WorkbenchError
    from workbench.files import replacing

    arrays = {name: np.asarray(value) for name, value in outputs.items()}
    objects = [name for name, value in arrays.items() if value.dtype == object]
    if objects:
        raise WorkbenchError(
            f"{', '.join(objects)[:200]}: strings and lists cannot be saved as .npz.",
            slug="not-an-array",
            fix="print them with --json, or save the trace.",
        )
    # numpy.savez does not accept an output named "file"
    with replacing(path, "The outputs") as target, zipfile.ZipFile(target, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _facts(
    session: Any, stop: Any, took: float, outputs: dict[str, Any], dead: list[str], ends: Ends
) -> dict[str, Any]:
    return {
        "graph": session.graph.name,
        "state": session.state,
        "reason": stop.reason.name,
        "why": str(stop.reason),
        "error": None if stop.error is None else error_facts(stop.error),
        "next": None if stop.tag is None else str(stop.tag),
        "events": session.snapshot().event,
        "seconds": round(took, 6),
        "dead": dead,
        "loops": {"/".join(path): end.table() for path, end in ends.items()},
        "outputs": {
            name: {
                "dtype": str(getattr(v, "dtype", type(v).__name__)),
                "shape": list(getattr(v, "shape", ())),
                "value": as_json(v),
            }
            for name, v in outputs.items()
        },
    }


def _print(session: Any, stop: Any, took: float, outputs: dict[str, Any], dead: list[str]) -> None:
    rows = [(name, _type(value), value_text(value)) for name, value in outputs.items()]
    rows += [(name, "dead", "its branch was not taken") for name in dead]
    show(table(rows, width=columns(sys.stdout)), pages=False)
    events = session.snapshot().event
    tell(f"{session.state} after {events:,} events in {took:.3g} s")
    if session.state == "finished":
        return
    tell(clip(stop.reason, 200) + f" Next: {printable(stop.position)}.")
    report = getattr(stop.error, "report", None)
    if stop.error is not None:
        tell(report or stop.error)
    elif session.graph.frames and len(session.graph.frames) > 1:
        tell(session.termination())


def _tell_ends(session: Any, ends: Ends) -> None:
    """Print how outer loops of a finished run ended, if they did not end normally."""
    for path, end in ends.items() if session.state == "finished" else ():
        if len(path) == 1 and end.standing.over and not end.standing.success:
            tell(printable(f"{end.standing.sign} {end.sentence('/'.join(path))}"))


def _type(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return type(value).__name__ if shape is None else f"{value.dtype}[{','.join(map(str, shape))}]"
