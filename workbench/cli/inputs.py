"""Inputs on the command line: ``--input name=value``, ``--inputs FILE``, ``--random SEED``."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import FeedError

if TYPE_CHECKING:
    import numpy as np

    from workbench.graph.graph import Graph

#: characters of one value on the command line, and bytes of a JSON file of inputs
MAX_TEXT = 10_000_000
#: items of an array that is made from its shape
MAX_ITEMS = 1 << 28
_MADE = re.compile(r"(zeros|ones|random)\(\s*([0-9]*(?:\s*,\s*[0-9]+)*)\s*,?\s*\)")
_HOW = "a number, a list as [1, 2], zeros(2,3), ones(2,3), random(2,3), or @FILE (.npy, .npz, .json)"


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """The options with which a model gets its inputs."""
    group = parser.add_argument_group("inputs of a model")
    group.add_argument(
        "-i", "--input", metavar="NAME=VALUE", action="append", default=[], help=f"one input, may be repeated: {_HOW}"
    )
    group.add_argument("--inputs", metavar="FILE", type=Path, help="several inputs: .npz, or .json with {name: value}")
    group.add_argument(
        "--random",
        metavar="SEED",
        type=int,
        default=None,
        nargs="?",
        const=0,
        help="random values for inputs that are not given; unknown dimensions are 1",
    )


def feeds_of(graph: Graph, arguments: argparse.Namespace) -> dict[str, Any]:
    """The feeds that the options name. FeedError for what cannot be read; what is missing is said with its type."""
    import numpy as np

    feeds: dict[str, Any] = {}
    rng = np.random.default_rng(arguments.random or 0)
    if arguments.inputs is not None:
        feeds.update(read_file(arguments.inputs))
    for given in arguments.input:
        name, equals, text = given.partition("=")
        if not equals or not name.strip():
            raise FeedError(f"{given[:80]!r} is no input.", slug="bad-input", fix="write --input name=value.")
        name = name.strip()
        feeds[name] = value_of(name, text.strip(), _dtype(graph, name), rng)
    known = {n.removesuffix(":0") for n in feeds}
    missing = [n for n in graph.inputs if n.removesuffix(":0") not in known]
    if arguments.random is not None:
        for name in missing:
            type_ = graph.type_of(graph.inputs[name])
            feeds[name] = _random(type_.dtype, [d or 1 for d in type_.shape or ()], rng)
    elif missing:
        wanted = ", ".join(f"{n} ({graph.type_of(graph.inputs[n])})" for n in missing[:20])
        raise FeedError(
            f"Missing: {wanted}{', ...' if len(missing) > 20 else ''}.",
            slug="missing-feed",
            fix=f"add --input {missing[0]}=..., or --random for random values.",
        )
    return feeds


def _dtype(graph: Graph, name: str) -> str | None:
    found = next((n for n in (name, f"{name}:0", name.removesuffix(":0")) if n in graph.inputs), None)
    return None if found is None else graph.type_of(graph.inputs[found]).dtype


def value_of(name: str, text: str, dtype: str | None, rng: np.random.Generator) -> Any:
    """One value from its text; ``dtype`` is that of the input (None: unknown input, the run will say so)."""
    import numpy as np

    if len(text) > MAX_TEXT:
        raise FeedError(f"The value of {name!r} has {len(text):,} characters.", slug="bad-input", fix="use @FILE.")
    if text.startswith("@"):
        return _from_file(name, Path(text[1:]))
    if made := _MADE.fullmatch(text):
        shape = [int(n[:12]) for n in made[2].split(",") if n.strip()]
        size = 1
        for n in shape:
            size *= n
        if size > MAX_ITEMS or len(shape) > 32:
            raise FeedError(f"{text!r} has {size:,} items; at most {MAX_ITEMS:,} are made.", slug="too-large")
        if made[1] == "random":
            return _random(dtype or "float64", shape, rng)
        return np.full(shape, made[1] == "ones", _numpy(dtype or "float64"))
    if dtype == "string" and not text.startswith(('"', "[")):
        return text
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return float(text)
    try:
        return _plain(json.loads(text))
    except (ValueError, RecursionError):
        raise FeedError(f"{text[:80]!r} is no value for {name!r}.", slug="bad-input", fix=f"give {_HOW}.") from None


def read_file(path: Path) -> dict[str, Any]:
    """Inputs by name from an .npz or a .json file."""
    if path.suffix == ".json":
        data = _json(path)
        if not isinstance(data, dict):
            raise FeedError(f"{str(path)!r} holds no names.", slug="bad-input", fix='write {"name": value, ...}.')
        return {name: _plain(value) for name, value in data.items()}
    loaded = _arrays(path)
    if not isinstance(loaded, dict):
        raise FeedError(
            f"{str(path)!r} holds one array without a name.",
            slug="bad-input",
            fix=f"give it with --input NAME=@{path}.",
        )
    return loaded


def _from_file(name: str, path: Path) -> Any:
    if path.suffix == ".json":
        data = _json(path)
        return _plain(data[name] if isinstance(data, dict) and name in data else data)
    loaded = _arrays(path)
    if not isinstance(loaded, dict):
        return loaded
    if name in loaded:
        return loaded[name]
    if len(loaded) == 1:
        return next(iter(loaded.values()))
    raise FeedError(f"{str(path)!r} holds no {name!r}.", slug="bad-input", fix=f"it holds {', '.join(loaded)[:200]}.")


def _json(path: Path) -> Any:
    try:
        if path.stat().st_size > MAX_TEXT:
            raise FeedError(f"{str(path)!r} is larger than {MAX_TEXT:,} bytes.", slug="too-large", fix="use .npz.")
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FeedError(f"There is no file {str(path)!r}.", slug="no-such-file", fix="check the path.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise FeedError(f"{str(path)!r} cannot be read as JSON: {error}.", slug="bad-input") from None


def _arrays(path: Path) -> Any:
    """An array, or a dict of them; never a pickle."""
    import numpy as np

    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except FileNotFoundError:
        raise FeedError(f"There is no file {str(path)!r}.", slug="no-such-file", fix="check the path.") from None
    except Exception as error:  # np.load and zipfile raise almost anything over a broken file
        raise FeedError(
            f"{str(path)!r} holds no arrays that can be read: {error}.",
            slug="bad-input",
            fix="write it with numpy.save or numpy.savez; object arrays are not read.",
        ) from None


def _plain(data: Any) -> Any:
    """JSON as a value: what is a mapping is none."""
    if isinstance(data, dict) or data is None:
        raise FeedError("null and {...} are no values.", slug="bad-input", fix=f"give {_HOW}.")
    return data


def _numpy(dtype: str) -> np.dtype:
    from workbench.graph.types import numpy_dtype

    return numpy_dtype("float64" if dtype in ("any", "opaque") else dtype)


def _random(dtype: str, shape: list[int], rng: np.random.Generator) -> np.ndarray:
    """Normal numbers; integers from 0 to 9; truth values; empty strings."""
    import numpy as np

    if dtype == "string":
        return np.full(shape, "", object)
    target = _numpy(dtype)
    if target.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if target.kind in "iu":
        return rng.integers(0, 10, shape).astype(target)
    if target.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(target)
    return np.asarray(rng.standard_normal(shape)).astype(target)
