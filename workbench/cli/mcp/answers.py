"""Answers of tools: JSON objects of limited size; invalid arguments and errors are also answers."""

from __future__ import annotations

import base64
import functools
import inspect
import json
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.cli.output import as_json, error_facts
from workbench.errors import WorkbenchError
from workbench.libraries import install, needed
from workbench.text import printable

#: maximum characters of an answer and of a string in it, and maximum items of a list
MOST, TEXT, ITEMS = 24_000, 2_000, 60

Tool = Callable[..., Any]
#: the tools by name, in listing order
TOOLS: dict[str, Tool] = {}


class ToolError(WorkbenchError):
    """A call that a tool refuses; the answer gives the reason, and what to call instead."""

    slug = "bad-call"


@dataclass(frozen=True)
class ImageAnswer:
    """A PNG with its description: two parts of one MCP answer, the JSON and the picture."""

    data: bytes
    facts: dict[str, Any]

    def content(self) -> list[Any]:
        """The parts as types of the protocol's SDK."""
        kinds = needed("mcp.types", "A picture in an answer", install("mcp"))
        text = json.dumps(bounded(as_json(self.facts)))
        return [
            kinds.TextContent(type="text", text=text),
            kinds.ImageContent(type="image", data=base64.b64encode(self.data).decode(), mimeType="image/png"),
        ]


def tool(function: Callable[..., Any]) -> Tool:
    """Make a tool of a function: arguments are checked by its annotations, and it never raises."""
    hints = typing.get_type_hints(function)
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        try:
            try:
                bound = signature.bind(*args, **named)
            except TypeError as error:
                raise ToolError(f"{function.__name__}: {error}.", fix=f"call {function.__name__}{signature}.") from None
            for name, value in bound.arguments.items():
                _check(function.__name__, name, value, hints[name])
            answer = function(*bound.args, **bound.kwargs)
            return answer.content() if isinstance(answer, ImageAnswer) else bounded(as_json(answer))
        except (WorkbenchError, ValueError, TypeError, LookupError, ArithmeticError, OSError) as error:
            return bounded({"error": as_json(error_facts(error))})
        except (MemoryError, RecursionError) as error:
            return {
                "error": {
                    "message": f"{type(error).__name__}: {printable(error, 200)}",
                    "slug": "too-large",
                    "fix": None,
                }
            }

    TOOLS[function.__name__] = call
    return call


def _check(function: str, name: str, value: Any, hint: Any) -> None:
    """ToolError if a value does not match its annotation; whole numbers match float."""
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    plain = tuple(typing.get_origin(kind) or kind for kind in kinds)
    fits = isinstance(value, (*plain, int) if float in plain else plain)
    if not fits or isinstance(value, bool) and bool not in plain:
        wanted = " or ".join("null" if kind is type(None) else kind.__name__ for kind in plain)
        raise ToolError(
            f"{function}: {name} must be {wanted}, got {printable(repr(value), 80)}.", fix=f"pass {name} as {wanted}."
        )


def bounded(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with long strings cut in the middle and long lists at the end; refused if it is still too long."""
    small = _cut(answer)
    if len(json.dumps(small)) > MOST:
        small = _cut(answer, TEXT // 8, ITEMS // 6)
    if len(json.dumps(small)) <= MOST:
        return dict(small)
    return {"error": {"message": "The answer is too long.", "slug": "too-large", "fix": "ask for less."}}


def _cut(value: Any, text: int = TEXT, items: int = ITEMS) -> Any:
    if isinstance(value, str):
        return (
            printable(value, text)
            if "\n" not in value
            else "\n".join(printable(s, text) for s in value.splitlines()[:items])
        )
    if isinstance(value, dict):
        kept = {printable(k, 200): _cut(v, text, items) for k, v in list(value.items())[: 4 * items]}
        return kept | ({"left_out": len(value) - len(kept)} if len(value) > 4 * items else {})
    if isinstance(value, list):
        kept_items = [_cut(v, text, items) for v in value[:items]]
        return [*kept_items, f"{len(value) - items:,} more"] if len(value) > items else kept_items
    return value
