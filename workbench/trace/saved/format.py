"""Trace files: a zip of JSON and .npy members, version 2. No pickle anywhere.

::

    trace.json                   {"format": "workbench-trace", "version": 2, "frames": [...], "stores": [frame, ...],
                                  "nodes": [...], "values": [...], "extents": [[first, stop, partial, ip], ...],
                                  "firsts": [first row of each further store, ...], "columns": [...], "pool": [...]}
    graph.txt                    the graph's text form
    f<frame>.starts.npy          int64, init row of each activation;  f<frame>.parents.npy: its parent's row
    c<k>.npy                     column k: numbers or arrays of rows first ... last of its store, or, for an object
                                 column whose arrays agree in dtype and shape, these arrays stacked
    c<k>.<row>.npy               otherwise: one array per row; rows whose value is not an array are left out
    p<k>.npy                     constant k of the pool
    e<k>.value.npy               the value of edit k;  e<k>.before.npy: the old value ("edits" in trace.json, if any)

A column entry is {"base", "offset", "dtype", "shape", "kind": "numbers" | "stacked" | "ragged", "first", "rows"}.
Strings are stored as UTF-8 JSON in c<k>.<row>.json. Readers refuse other versions and members that are larger than
declared. If iterations in between are not kept, the file has version 3 (see ``retention.saved``).
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypeVar

from workbench.errors import TraceError, WorkbenchError
from workbench.ir.graph import Graph
from workbench.ir.text import parse
from workbench.kernels.layout import Layout
from workbench.trace.edited_firings import Written
from workbench.trace.saved.edits import read_edits
from workbench.trace.saved.layout import check_graph, read_layout
from workbench.trace.saved.members import NO_TRACE, MemberReader
from workbench.trace.saved.source import SavedSource

T = TypeVar("T")

FORMAT, VERSION = "workbench-trace", 2
#: version of files with only a part of the rows (see retention.saved)
PARTIAL = 3
#: maximum nodes in the graph of a file that is read
MAX_NODES = 1 << 19


def load_trace(
    path: str | PathLike[str],
    make: Callable[[Graph, Layout, SavedSource, Callable[[], Sequence[Written]]], T],
    *,
    trusted: bool = False,
) -> T:
    """Read a trace file and create a trace from its graph, layout, rows and edits; see :meth:`Trace.load`.

    Raises TraceError with slug ``not-a-trace``, ``trace-version``, ``too-large`` or ``bad-trace``, or an error about
    its graph.
    """
    try:
        with zipfile.ZipFile(path) as file:
            if "trace.json" not in file.namelist():
                raise TraceError(
                    f"{path} is not a workbench trace: it has no trace.json.", slug="not-a-trace", fix=NO_TRACE
                )
            members = MemberReader(file, trusted)
            head = members.json("trace.json")
            _check_head(path, head)
            text = members.text("graph.txt")
            if text.count("\nnode ") > MAX_NODES:
                raise TraceError(
                    f"The graph in {path} has more than {MAX_NODES:,} nodes.", slug="too-large", fix=NO_TRACE
                )
            graph = parse(text)
            layout = read_layout(head)
            check_graph(layout, graph)
            source = SavedSource(members, head, layout)
            source.check(layout)
            edits = read_edits(members, head, graph)
            return make(graph, layout, source, lambda: edits)
    except TraceError:
        raise
    except WorkbenchError as error:  # the file's graph
        raise TraceError(f"{path} is damaged: {error.message}", slug=error.slug, fix=NO_TRACE) from error
    except FileNotFoundError:
        raise TraceError(f"There is no file {path}.", slug="no-such-file", fix="check the path.") from None
    except (zipfile.BadZipFile, IsADirectoryError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TraceError(
            f"{path} is not a workbench trace: {str(error)[:500]}.", slug="not-a-trace", fix=NO_TRACE
        ) from error
    except Exception as error:  # zipfile and NumPy's header reader raise a dozen exception types on damaged bytes
        raise TraceError(f"{path} is damaged: {str(error)[:500]}.", slug="bad-trace", fix=NO_TRACE) from error


def _check_head(path: str | PathLike[str], head: Any) -> None:
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise TraceError(f"{path} is not a workbench trace.", slug="not-a-trace", fix=NO_TRACE)
    version = head.get("version")
    if version not in (VERSION, PARTIAL) or bool(head.get("partial", False)) != (version == PARTIAL):
        raise TraceError(
            f"{path} has trace format version {repr(version)[:40]}; this workbench reads versions {VERSION} and "
            f"{PARTIAL}.",
            slug="trace-version",
            fix="save it again with the workbench that wrote it, or update this one.",
        )
