"""Trace files: a zip of JSON and .npy members, version 2. No pickle anywhere.

::

    trace.json                   {"format": "workbench-trace", "version": 2, "frames": [...], "stores": [frame, ...],
                                  "nodes": [...], "values": [...], "extents": [[first, stop, partial, ip], ...],
                                  "firsts": [first row of each further store, ...], "columns": [...], "pool": [...]}
    graph.txt                    the graph's text form
    f<frame>.starts.npy          int64, init row of each activation;  f<frame>.parents.npy: its parent's row
    c<k>.npy                     column k: numbers or arrays of rows first ... last of its store, or, of an object
                                 column whose arrays agree in dtype and shape, those arrays stacked
    c<k>.<row>.npy               otherwise: one array per row; rows whose value is no array are left out
    p<k>.npy                     constant k of the pool

A column entry is {"base", "offset", "dtype", "shape", "kind": "numbers" | "stacked" | "ragged", "first",
"rows"}. Strings are stored as UTF-8 JSON in c<k>.<row>.json. Readers refuse other versions and members that are
larger than they say. Where iterations in between are not kept, the file has version 3 (see ``retention.saved``).
"""

from __future__ import annotations

import json
import zipfile
from os import PathLike
from typing import Any

from workbench.errors import TraceError, WorkbenchError
from workbench.graph.text import parse
from workbench.kernels.layout import Condition, FrameLayout, Layout, NodeLayout, Place, ValueLayout
from workbench.trace.saved_source import SavedSource, place_of
from workbench.trace.slots import slots
from workbench.trace.trace import Trace

FORMAT, VERSION = "workbench-trace", 2
#: version of files that have a part of the rows only (see retention.saved)
PARTIAL = 3
MAX_BYTES = 8 << 30
#: what to do about a file that cannot be read
NO_TRACE = "give a file that trace.save wrote; if it is one, it was cut short or changed on its way: get it again."


def load_trace(path: str | PathLike[str]) -> Trace:
    """Read a trace file; raises TraceError with slug ``not-a-trace``, ``trace-version`` or ``bad-trace``, or
    what is wrong with the graph in it."""
    try:
        with zipfile.ZipFile(path) as file:
            if "trace.json" not in file.namelist():
                raise TraceError(
                    f"{path} is no workbench trace: it has no trace.json.", slug="not-a-trace", fix=NO_TRACE
                )
            if sum(m.file_size for m in file.infolist()) > MAX_BYTES:
                raise TraceError(f"{path} unpacks to more than {MAX_BYTES >> 30} GiB.", slug="too-large", fix=NO_TRACE)
            head = json.loads(file.read("trace.json"))
            if not isinstance(head, dict) or head.get("format") != FORMAT:
                raise TraceError(f"{path} is no workbench trace.", slug="not-a-trace", fix=NO_TRACE)
            if head.get("version") not in (VERSION, PARTIAL):
                version = repr(head.get("version"))[:40]
                raise TraceError(
                    f"{path} has trace format version {version}; this workbench reads version {VERSION}.",
                    slug="trace-version", fix="save it again with the workbench that wrote it, or update this one.",
                )  # fmt: skip
            graph = parse(file.read("graph.txt").decode())
            layout = _read_layout(head)
            source = SavedSource(file, head, layout)
            source.check(layout)
            return Trace(graph, layout, source)
    except TraceError:
        raise
    except WorkbenchError as error:  # the graph in it
        raise TraceError(f"{path} is damaged: {error.message}", slug=error.slug, fix=NO_TRACE) from error
    except FileNotFoundError:
        raise TraceError(f"There is no file {path}.", slug="no-such-file", fix="look for it elsewhere.") from None
    except (zipfile.BadZipFile, IsADirectoryError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TraceError(
            f"{path} is no workbench trace: {str(error)[:500]}.", slug="not-a-trace", fix=NO_TRACE
        ) from error
    except Exception as error:  # zipfile and NumPy's header reader raise a dozen kinds on damaged bytes
        raise TraceError(f"{path} is damaged: {str(error)[:500]}.", slug="bad-trace", fix=NO_TRACE) from error


def _read_layout(head: dict[str, Any]) -> Layout:
    def place(p: Any) -> Place | None:
        return None if p is None else place_of(p)

    def condition(c: Any) -> Condition:
        found = place(c["place"])
        if found is None:
            raise ValueError("a condition without a place")
        return Condition(found, int(c["expect"]))

    def guard(g: Any) -> tuple[Condition, ...]:
        return tuple(condition(c) for c in g)

    frames = tuple(
        FrameLayout(tuple(f["path"]), int(f["parent"]), int(f["row_bytes"]), int(f["start"]), int(f["stop"]),
                    None if f["cond"] is None else condition(f["cond"]))
        for f in head["frames"]
    )  # fmt: skip
    for number, frame in enumerate(frames):
        if not -1 <= frame.parent < max(number, 1) or (number > 0 and frame.parent < 0):
            raise ValueError(f"frame {number} has no proper parent")
    nodes = tuple(
        NodeLayout(
            n["name"], n["op"], int(n["frame"]), int(n["ip"]), guard(n["guard"]), bool(n["silent"]), bool(n["first"])
        )
        for n in head["nodes"]
    )
    values = {}
    for v in head["values"]:
        branches = tuple((int(i), guard(g)) for i, g in v["branches"])
        values[v["node"], int(v["output"])] = ValueLayout(
            v["node"], int(v["output"]), int(v["frame"]), v["kind"], place(v["place"]), guard(v["guard"]), branches,
            place(v["statistics"]),
        )
    if {v.node for v in values.values()} - {n.name for n in nodes}:
        raise ValueError("a value is of a node that is not there")
    if any(not 0 <= n.frame < len(frames) for n in (*nodes, *values.values())):
        raise ValueError("a node is in a frame that is not there")
    stores = tuple(int(f) for f in head["stores"])
    if stores[: len(frames)] != tuple(range(len(frames))) or any(not 0 <= f < len(frames) for f in stores):
        raise ValueError("the stores do not fit the frames")
    layout = Layout(frames, nodes, values, stores)
    if any(not 0 <= p.base <= len(stores) for p in slots(layout)):
        raise ValueError("a place is in a store that is not there")
    return layout
