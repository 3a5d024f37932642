"""Search in a graph: ``op:MatMul dtype:float32 shape:3,3 name~conv``, all conditions at once.

A plain word is searched in names and ops. Values of conditions may contain ``*`` and ``?`` as in file names (in a shape
``?`` is any size of one dimension and ``*`` any remaining ones). Case is ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cached_property

from workbench.errors import WorkbenchError
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.ir.op_names import bare_op
from workbench.widgets.text.labels import shorten

MAX_QUERY = 500
KEYS = ("op", "dtype", "shape", "name", "frame", "line")
EXAMPLE = "write for example op:MatMul dtype:float32 shape:3,3 name~conv, or a part of a name."

Test = Callable[[Node], bool]


class GraphSearch:
    """Finds nodes of ``graph``."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @cached_property
    def _words(self) -> dict[str, str]:
        """The searched words of each node, in lower case: its name, op and public names."""
        words = {name: f"{name} {node.op}".lower() for name, node in self.graph.nodes.items()}
        for table in (self.graph.names, self.graph.inputs, self.graph.outputs):
            for public, ref in table.items():
                words[ref.node] += f" {public.lower()}"
        return words

    def find(self, query: str) -> list[str]:
        """Names of the nodes that fulfil all conditions, in graph order; [] for an empty query.

        Raises WorkbenchError (slug ``bad-search``) for an unknown condition or a query of more than 500 characters.
        """
        if len(query) > MAX_QUERY:
            raise _bad(f"A search of {len(query)} characters is too long; at most {MAX_QUERY} are read.")
        words = query.split()
        tests = [self._test(word) for word in words]
        if not tests:
            return []
        found = [name for name, node in self.graph.nodes.items() if all(test(node) for test in tests)]
        if not found:  # a name may contain a colon, so that only now this is an error
            for key in (_key(word)[0] for word in words):
                if key and key not in KEYS and key.isalpha():
                    raise _bad(f"Unknown search key {shorten(key)!r}; the keys are {', '.join(KEYS)}.")
        return found

    def _test(self, word: str) -> Test:
        key, sign, want = _key(word)
        if key not in KEYS:
            plain = word.lower().removesuffix(":0")
            return lambda node: _holds(self._words[node.name], plain)
        if not want:
            raise _bad(f"The search key {word!r} has no value.")
        return self._condition(key, want, sign == "~")

    def _condition(self, key: str, want: str, part: bool) -> Test:
        graph = self.graph
        if key == "op":
            return lambda node: _is(bare_op(node.op).lower(), want, part) or _is(node.op.lower(), want, part)
        if key == "dtype":
            return lambda node: any(_is(str(t.dtype).lower(), want, part) for t in node.types)
        if key == "shape":
            sizes = _sizes(want)
            return lambda node: any(_fits(t.shape, sizes) for t in node.types)
        if key == "frame":
            return lambda node: _holds("/".join(graph.frame_of(node.name)).lower(), want)
        if key == "line":
            return lambda node: node.source is not None and _holds(str(node.source).lower(), want)
        return lambda node: _holds(node.name.lower(), want) or _holds(graph.name_of(Ref(node.name, 0)).lower(), want)


def _key(word: str) -> tuple[str, str, str]:
    """``op:MatMul`` as ("op", ":", "matmul"); the key is "" if there is none."""
    at = next((i for i, c in enumerate(word) if c in ":~="), 0)
    return (word[:at].lower(), word[at], word[at + 1 :].lower()) if at else ("", "", word.lower())


def _is(text: str, want: str, part: bool) -> bool:
    return want in text if part else fnmatchcase(text, want)


def _holds(text: str, want: str) -> bool:
    return fnmatchcase(text, f"*{want}*") if "*" in want or "?" in want else want in text


def _sizes(text: str) -> list[str]:
    inner = text.strip("()[]").replace("x", ",")
    return [s.strip() for s in inner.split(",") if s.strip()] if inner not in ("", "scalar") else []


def _fits(shape: tuple[int | None, ...] | None, sizes: list[str]) -> bool:
    if shape is None:
        return sizes == ["*"]
    if sizes[-1:] == ["*"]:
        sizes = sizes[:-1]
        shape = shape[: len(sizes)]
    return len(shape) == len(sizes) and all(
        want in ("?", "*") or (size is None and want == "none") or str(size) == want
        for size, want in zip(shape, sizes, strict=True)
    )


def _bad(words: str) -> WorkbenchError:
    return WorkbenchError(words, slug="bad-search", fix=EXAMPLE)
