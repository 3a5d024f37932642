"""Trace files with one thing in them changed, as a damaged disk or a stranger would leave them, and all uses of what
still loads.

:func:`mutated` changes one value of ``trace.json`` (another number, another type, the same field of another entry,
left out, doubled), one line of ``graph.txt``, one number of a member, its header, or one whole member.
:func:`use_everything` asks a trace each question that users, views, reports and the command line ask.
"""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.ir import Ref

NUMBERS = (0, 1, 2, 3, 7, -1, -2, 64, 1 << 31, 1 << 62, 1 << 63, 1 << 70, -(1 << 63), 0.5, 1e300)
OTHERS = (None, True, False, "", "x", "float64", "bool", "int32", "bfloat16", "string", "O", [], {}, [0], [[]], ["a"])

Members = dict[str, bytes]


def members_of(path: Path) -> Members:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def write(path: Path, members: Members) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)


def mutated(members: Members, random: Random) -> Members:
    """The members with one change."""
    changed = dict(members)
    kind = random.choice(("head", "head", "head", "head", "graph", "numbers", "member"))
    if kind == "head":
        head = json.loads(members["trace.json"])
        _change_head(head, random)
        changed["trace.json"] = json.dumps(head).encode()
    elif kind == "graph":
        changed["graph.txt"] = _changed_text(members["graph.txt"].decode(), random).encode("utf-8", "surrogatepass")
    else:
        arrays = sorted(n for n in members if n.endswith(".npy"))
        name = random.choice(arrays)
        changed[name] = _changed_array(members[name], random) if kind == "numbers" else members[random.choice(arrays)]
    return changed


def _leaves(value: Any, holder: Any = None, key: Any = None) -> Iterator[tuple[Any, Any]]:
    """(container, key) of every value inside."""
    if holder is not None:
        yield holder, key
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for k, v in entries:
        yield from _leaves(v, value, k)


def _change_head(head: dict[str, Any], random: Random) -> None:
    part = head[random.choice(sorted(k for k in head if isinstance(head[k], list) and head[k]))]
    found = list(_leaves(part))
    holder, key = random.choice(found)
    how = random.randrange(6)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif how == 2:  # what stands at the same field of another entry
        same = [h[k] for h, k in found if isinstance(h, dict) and k == key] or [v for v in (0, 1)]
        holder[key] = copy.deepcopy(random.choice(same))
    elif how == 3 and isinstance(holder[key], int) and not isinstance(holder[key], bool):
        holder[key] += random.choice((-2, -1, 1, 2, 8))
    elif how == 4:
        holder[key] = random.choice(OTHERS)
    else:
        holder[key] = random.choice(NUMBERS)


def _changed_text(text: str, random: Random) -> str:
    lines = text.splitlines()
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    how = random.randrange(5)
    if how == 0:
        del lines[at]
    elif how == 1:
        lines.insert(at, lines[other])
    elif how == 2:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        words = lines[at].split('"')
        words[random.randrange(len(words))] = random.choice(lines[other].split('"') + ["", "float32", "9"])
        lines[at] = '"'.join(words)
    return "\n".join(lines) + "\n"


def _changed_array(data: bytes, random: Random) -> bytes:
    array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    how = random.randrange(5)
    if how == 0 and array.size:
        array = array.copy()
        array.ravel()[random.randrange(array.size)] = random.choice((0, 1, 99))
    elif how == 1:
        array = array[:-1] if array.ndim else array.reshape(1)
    elif how == 2:
        array = np.concatenate([array, array]) if array.ndim else array
    elif how == 3:
        array = array.astype(random.choice(("float32", "int64", "bool", "complex128", "uint8")))
    else:
        array = array[::-1] if array.ndim else array[None]
    out = io.BytesIO()
    np.lib.format.write_array(out, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
    return out.getvalue()


def questions(trace: wb.Trace, folder: Path) -> Iterator[Callable[[], object]]:
    """Each question that can be asked of a trace, as a call."""
    yield trace.names
    for key in trace.layout.values:
        ref = Ref(*key)
        yield lambda ref=ref: trace[ref].values
        yield lambda ref=ref: trace[ref].iterations
        yield lambda ref=ref: (len(trace[ref]), trace[ref].gaps, trace[ref].rows)
        yield lambda ref=ref: [trace[ref].tag(k) for k in (0, -1)]
        yield lambda ref=ref: (trace[ref][-1], trace[ref][1:7:2], trace[ref].window(0, 5))
        yield lambda ref=ref: trace[ref].at(trace[ref].tag(0).iteration)
        yield lambda ref=ref: trace[ref].within(0, 5)
        yield lambda ref=ref: trace[ref].envelope(4)
        yield lambda ref=ref: trace[ref].statistics
        yield lambda ref=ref: trace.firings(ref)
        yield lambda ref=ref: trace.coverage(ref)
        yield lambda ref=ref: str(trace.explain(ref, max_links=20))
    for node in trace.graph.nodes:
        yield lambda node=node: trace.count(node)
    yield lambda: trace.events().columns()
    yield lambda: list(trace.events(silent=False))
    yield lambda: trace.branches().columns()
    yield trace.branch_counts
    yield trace.coverages
    for frame in trace.graph.frames:
        yield lambda frame=frame: trace.recent(frame)
    yield lambda: trace.dropped
    yield lambda: repr(trace)
    yield lambda: trace.save(folder / "again.wbtrace")
    yield lambda: str(wb.diff(trace, trace))
    yield lambda: wb.nan_origin(trace)
    yield lambda: wb.analyze(trace).report()


def use_everything(trace: wb.Trace, folder: Path) -> list[BaseException]:
    """The exceptions that were raised and are not WorkbenchErrors."""
    found: list[BaseException] = []
    for ask in questions(trace, folder):
        try:
            ask()
        except WorkbenchError:
            pass
        except Exception as error:
            found.append(error)
    return found
