"""Checked access to parsed JSON: a program is refused if a field does not have the type of the schema."""

from __future__ import annotations

from typing import Any, TypeVar

from workbench.frontends.pytorch.reading.archive import refused

T = TypeVar("T")
_CALLED = {
    dict: "an object",
    list: "a list",
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
_MISSING: Any = object()


def field(node: dict[str, Any], key: str, kind: type[T], default: Any = _MISSING) -> T:
    """The field of an object; the default if it is missing or null."""
    found = node.get(key)
    if found is None and default is not _MISSING:
        return default  # type: ignore[no-any-return]
    return as_kind(found, kind, key)


def as_kind(found: Any, kind: type[T], what: str) -> T:
    if type(found) is not kind:
        raise refused(f"its field {what!r} is {str(found)[:60]!r}, where {_CALLED[kind]} belongs")
    return found


def tagged(node: Any, what: str) -> tuple[str, Any]:
    """Tag and content of a union, which PyTorch writes as an object with one field."""
    if type(node) is not dict or len(node) != 1:
        raise refused(f"its field {what!r} is {str(node)[:60]!r}, where an object with one field belongs")
    ((tag, content),) = node.items()
    return tag, content
