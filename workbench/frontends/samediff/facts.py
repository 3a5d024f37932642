"""Sentences on facts of a SameDiff file that are not part of its graph: kinds of variables, losses, the training
configuration, which is JSON written by Jackson ("@class" names the Java class of an object).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.frontends.samediff.flatgraph import FlatGraph
from workbench.frontends.samediff.schema import ARRAY, KINDS, SEQUENCE

#: maximum number of names of a list, and of characters of a value, that are shown
_NAMES, _LONGEST = 8, 80
_MAX_JSON = 1 << 20


def facts_of(source: FlatGraph) -> list[str]:
    """One sentence each on the variables, the losses, the training and the updater, if the file has them."""
    by_kind: dict[int, list[str]] = {}
    computed = {name for node in source.nodes for name in node.outputs}
    for variable in source.variables.values():
        if variable.kind not in (ARRAY, SEQUENCE) and variable.name in computed:
            continue  # a file older than the storage of kinds
        by_kind.setdefault(variable.kind, []).append(variable.name)
    found = [f"{_kind(kind)}: {_listed(names)}." for kind, names in sorted(by_kind.items()) if kind != ARRAY]
    if ARRAY in by_kind:
        count = len(by_kind[ARRAY])
        found.append(f"ARRAY: {count:,} computed {'variable' if count == 1 else 'variables'}.")
    if source.losses:
        found.append(f"Loss variables: {_listed(source.losses)}.")
    if source.training:
        found.append(_training(source.training))
    if source.updater:
        found.append(f"The file holds the updater's state of {_listed(source.updater)}, which is not read.")
    return found


def labels_of(source: FlatGraph) -> list[str]:
    """The placeholders that the training configuration feeds with labels."""
    names = _parsed(source.training).get("dataSetLabelMapping")
    return [n for n in names if isinstance(n, str)] if isinstance(names, list) else []


def _kind(kind: int) -> str:
    return KINDS[kind] if 0 <= kind < len(KINDS) else f"Variables of kind {kind}"


def _training(text: str) -> str:
    config = _parsed(text)
    if not config:
        return "Training configuration: not readable as JSON."
    parts = []
    updater = config.get("updater")
    if isinstance(updater, dict):
        parts.append(f"updater {_object(updater)}")
    for each in config.get("regularization") or []:
        if isinstance(each, dict):
            parts.append(f"regularization {_object(each)}")
    if "minimize" in config:
        parts.append("minimizes the loss" if config["minimize"] else "maximizes the loss")
    for key, what in (("dataSetFeatureMapping", "features"), ("dataSetLabelMapping", "labels")):
        if isinstance(config.get(key), list):
            parts.append(f"{what} {_listed(config[key])}")
    for key, what in (("iterationCount", "iterations"), ("epochCount", "epochs")):
        if isinstance(config.get(key), int):
            parts.append(f"{config[key]:,} {what} done")
    return f"Training configuration: {'; '.join(parts) or 'empty'}."


def _parsed(text: str) -> Mapping[str, Any]:
    if not text or len(text) > _MAX_JSON:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _object(fields: Mapping[str, Any], depth: int = 0) -> str:
    """A Java object as Class(name value, ...); a fixed schedule as its value."""
    name = str(fields.get("@class", "")).rpartition(".")[2]
    rest = {k: v for k, v in fields.items() if k != "@class"}
    if name == "FixedSchedule" and set(rest) == {"value"}:
        return _plain(rest["value"])
    inner = ", ".join(
        f"{k} {_object(v, depth + 1) if isinstance(v, dict) and depth < 3 else _plain(v)}" for k, v in rest.items()
    )
    return f"{name}({inner})" if inner else name


def _plain(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(_plain(n) for n in names[:_NAMES])
    return f"{shown} and {len(names) - _NAMES:,} more" if len(names) > _NAMES else shown
