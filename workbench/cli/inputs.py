"""Inputs on the command line: ``--input name=value``, ``--inputs FILE``, ``--random SEED``, ``--dim name=size``."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.input_files import KINDS, MAX_TEXT, from_file, plain, read_file
from workbench.cli.numbers import sized, whole
from workbench.errors import FeedError
from workbench.text import similar_names

if TYPE_CHECKING:
    import numpy as np

    from workbench.ir.graph import Graph
    from workbench.ir.types import TensorType

#: maximum items of an array created from its shape
MAX_ITEMS = 1 << 28
_MADE = re.compile(r"(zeros|ones|random)\(\s*([0-9]*(?:\s*,\s*[0-9]+)*)\s*,?\s*\)")
_HOW = f"a number, a list such as [1, 2], zeros(2,3), ones(2,3), random(2,3), or @FILE ({KINDS})"


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """The options for the inputs of a model."""
    group = parser.add_argument_group("inputs of a model")
    group.add_argument(
        "-i", "--input", metavar="NAME=VALUE", action="append", default=[], help=f"one input; may be repeated: {_HOW}"
    )
    group.add_argument(
        "--inputs",
        metavar="FILE",
        type=Path,
        help="several inputs: .npz, .csv with a header line, or .json with {name: value}",
    )
    group.add_argument(
        "--random",
        metavar="SEED",
        type=whole(0),
        default=None,
        nargs="?",
        const=0,
        help="random values for inputs that are not given; open sizes are 1 unless --dim sets them",
    )
    add_dims(group)


def add_dims(parser: Any) -> None:
    """``--dim``: sizes of inputs that the model leaves open."""
    parser.add_argument(
        "--dim",
        metavar="NAME=SIZE",
        type=sized,
        action="append",
        default=[],
        help="a size that the model leaves open, by its name or as INPUT[AXIS]; may be repeated; inputs that are not "
        "given then get random values (inspect lists the names)",
    )


def feeds_of(graph: Graph, arguments: argparse.Namespace) -> dict[str, Any]:
    """The feeds given by the options. FeedError for values that cannot be read, and for missing inputs, with their
    types."""
    import numpy as np

    from workbench.session.input_examples import check_sizes, random_array, shapes_with

    feeds: dict[str, Any] = {}
    rng = np.random.default_rng(arguments.random or 0)
    if arguments.inputs is not None:
        feeds.update(read_file(arguments.inputs))
    for given in arguments.input:
        name, equals, text = given.partition("=")
        if not equals or not name.strip():
            raise FeedError(f"{given[:80]!r} is not an input.", slug="bad-input", fix="write --input name=value.")
        name = name.strip()
        feeds[name] = value_of(name, text.strip(), _type(graph, name), rng)
    known = {n.removesuffix(":0") for n in feeds}
    missing = [n for n in graph.inputs if n.removesuffix(":0") not in known]
    _check_names(graph, feeds, missing)
    sizes = check_sizes(graph, dict(arguments.dim))
    if arguments.random is not None or sizes:
        shapes = shapes_with(graph, sizes)
        for name in missing:
            feeds[name] = random_array(graph.type_of(graph.inputs[name]).dtype, shapes[name] or (), rng)
        arguments.made_up = MadeUp(graph, missing, sizes)
    elif missing:
        raise FeedError(
            f"Missing: {_wanted(graph, missing)}.",
            slug="missing-feed",
            fix=f"add --input {missing[0]}=..., or --random for random values.",
        )
    return feeds


def _check_names(graph: Graph, feeds: dict[str, Any], missing: list[str]) -> None:
    """Raise a FeedError that lists unknown inputs, with similar names."""
    inputs = {n.removesuffix(":0"): n for n in graph.inputs}
    unknown = [n for n in feeds if n.removesuffix(":0") not in inputs]
    if not unknown:
        return
    meant = {n: similar_names(n, [m.removesuffix(":0") for m in missing] or inputs) for n in unknown}
    ask = {n: f" (did you mean {' or '.join(map(repr, near))}?)" if near else "" for n, near in meant.items()}
    shown = ", ".join(f"{n[:80]!r}{ask[n]}" for n in unknown[:20]) + (", ..." if len(unknown) > 20 else "")
    text = f"Unknown input{'s' if len(unknown) > 1 else ''}: {shown}."
    if missing:
        text += f" Missing: {_wanted(graph, missing)}."
    near = next((meant[n][0] for n in unknown if meant[n]), None)
    if near is not None:
        fix = f"write --input {near}=..."
    elif len(missing) == len(inputs):
        fix = "give the missing ones." if inputs else "give none: the model takes no inputs."
    else:
        fix = f"the inputs are {_wanted(graph, list(graph.inputs))}."
    raise FeedError(text, slug="unknown-feed", fix=fix)


def _wanted(graph: Graph, names: list[str]) -> str:
    """Inputs with their types: ``a (one float32 number)``."""
    shown = [f"{n} ({graph.type_of(graph.inputs[n]).words})" for n in names[:20]]
    return ", ".join(shown) + (", ..." if len(names) > 20 else "")


class MadeUp:
    """Generated inputs, for the message when a run with them fails."""

    def __init__(self, graph: Graph, inputs: list[str], given: dict[str, int]) -> None:
        self.graph, self.inputs, self.given = graph, inputs, given

    def blame(self) -> str:
        """A sentence about generated inputs and guessed sizes, with a suggestion; empty if there are none."""
        from workbench.session.input_examples import open_sizes, sizes_that_run

        if not self.inputs:
            return ""
        guessed = [
            name
            for name, places in open_sizes(self.graph).items()
            if name not in self.given and any(place.rpartition("[")[0] in self.inputs for place in places)
        ]
        shown = ", ".join(map(repr, self.inputs[:8])) + (", ..." if len(self.inputs) > 8 else "")
        if not guessed:
            return f"The inputs {shown} were made up: give real ones with --input if these do not fit."
        sizes = ", ".join(f"{name} = 1" for name in guessed[:12]) + (", ..." if len(guessed) > 12 else "")
        sentence = f"The inputs {shown} were made up, and their open sizes were guessed: {sizes}."
        fits = sizes_that_run(self.graph, self.given) if len(self.inputs) == len(self.graph.inputs) else None
        if fits is not None and any(fits[name] != 1 for name in guessed if name in fits):
            words = " ".join(f"--dim {shlex.quote(f'{n}={k}')}" for n, k in fits.items())
            return f"{sentence} It runs with {words}."
        words = " ".join(f"--dim {shlex.quote(f'{name}=N')}" for name in guessed[:12])
        return f"{sentence} Choose others: {words}."


def _type(graph: Graph, name: str) -> TensorType | None:
    found = next((n for n in (name, f"{name}:0", name.removesuffix(":0")) if n in graph.inputs), None)
    return None if found is None else graph.type_of(graph.inputs[found])


def value_of(name: str, text: str, type_: TensorType | None, rng: np.random.Generator) -> Any:
    """One value from its text; ``type_`` is that of the input (None for an unknown input, which the run will
    report)."""
    import numpy as np

    from workbench.session.input_examples import random_array

    if len(text) > MAX_TEXT:
        raise FeedError(f"The value of {name!r} has {len(text):,} characters.", slug="bad-input", fix="use @FILE.")
    if text.startswith("@"):
        return from_file(name, Path(text[1:]), type_)
    dtype = None if type_ is None else type_.dtype
    if made := _MADE.fullmatch(text):
        shape = [int(n[:12]) for n in made[2].split(",") if n.strip()]
        size = 1
        for n in shape:
            size *= n
        if size > MAX_ITEMS or len(shape) > 32:
            raise FeedError(f"{text!r} has {size:,} items; at most {MAX_ITEMS:,} can be created.", slug="too-large")
        if made[1] == "random":
            return random_array(dtype or "float64", tuple(shape), rng)
        return np.full(shape, made[1] == "ones", _numpy(dtype or "float64"))
    if dtype == "string" and not text.startswith(('"', "[")):
        return text
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return float(text)
    try:
        return plain(json.loads(text))
    except (ValueError, RecursionError):
        raise FeedError(
            f"{text[:80]!r} is not a valid value for {name!r}.", slug="bad-input", fix=f"give {_HOW}."
        ) from None


def _numpy(dtype: str) -> np.dtype:
    from workbench.ir.types import numpy_dtype

    return numpy_dtype("float64" if dtype in ("any", "opaque") else dtype)
