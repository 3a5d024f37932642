"""Reader for the protobuf text format, with the tables and the plain dicts of ``wire``.

::

    node {                                  a message; also < >, and with a colon before it
      name: "a" 'b'  # comment              adjacent string literals are one string
      attr { key: "T" value { type: DT_FLOAT } };
      input: ["x", "y"]                     a repeated field as a list; , or ; may follow a field
    }

Source: https://protobuf.dev/reference/protobuf/textformat-spec/. The syntax of fields that the tables lack is checked,
and they are left out, as the wire reader does with later versions of a format; the same holds for extensions and
expanded Any messages (``[type.googleapis.com/...] { }``). The text is read in one pass without a list of tokens;
nothing is evaluated.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from workbench.frontends.protobuf.texttokens import TextError, Tokens, clipped
from workbench.frontends.protobuf.wire import MAX_DEPTH, Field, Schema

_BOOLS = {"true": True, "True": True, "t": True, "false": False, "False": False, "f": False}
_NOT_FINITE = {"inf": float("inf"), "infinity": float("inf"), "nan": float("nan")}
_CLOSING = {"{": "}", "<": ">"}
_LARGEST_FLOAT = float.fromhex("0x1.fffffefffffffp+127")  # rounds to the largest float32; anything above is infinite


class TextReader(Tokens):
    """Reads one message of a schema from a text. ``enums`` maps the names of enumeration values to their numbers."""

    def __init__(self, text: str | bytes, schema: Schema, enums: Mapping[str, int] | None = None) -> None:
        super().__init__(text)
        self.schema = schema
        self.enums = enums or {}
        self._tables: dict[str, dict[str, Field]] = {}

    def message(self, name: str) -> dict[str, Any]:
        """The whole text as message ``name``; raises TextError."""
        self.next()
        found = self._fields(name, "", 0)
        if self.token:
            raise self.error(f"{self.token!r} closes nothing")
        return found

    # -- messages ---------------------------------------------------------------------------------------
    def _fields(self, name: str | None, close: str, depth: int) -> dict[str, Any]:
        """Fields up to ``close``; with ``name`` None only the syntax of an unknown message is checked."""
        if depth > MAX_DEPTH:
            raise self.error(f"Messages are nested more than {MAX_DEPTH} deep", "too-deep")
        table = None if name is None else self._table(name)
        found: dict[str, Any] = {}
        while self.token and not self.at_mark("}", ">"):
            label = self.token
            if self.kind == "name":
                self.next()
            else:
                label = self._bracketed()
            field = table.get(label) if table else None
            if field is None:
                self._unknown(label, depth)
            elif field.kind in self.schema:
                self._messages(field, found, depth)
            else:
                self._scalars(field, found)
            if not self.take(","):
                self.take(";")
        if self.token != close:
            wanted = f"expected {close!r}" if close else "nothing is open"
            raise self.error(f"{self.shown()} ends a message here, but {wanted}")
        return found

    def _table(self, name: str) -> dict[str, Field]:
        if name not in self._tables:
            self._tables[name] = {field.name: field for field in self.schema[name].values()}
        return self._tables[name]

    def _bracketed(self) -> str:
        """``[extension.name]`` or ``[domain/type.name]``."""
        if not self.take("["):
            raise self.error(f"{self.shown()} is not a field name")
        parts = []
        while self.kind == "name" or self.at_mark(".", "/", "-"):
            parts.append(self.token)
            self.next()
        if not parts or not self.take("]"):
            raise self.error(f"{self.shown()} is not a part of a field name in brackets")
        return f"[{''.join(parts)}]"

    def _messages(self, field: Field, found: dict[str, Any], depth: int) -> None:
        self.take(":")
        if field.repeated and self.take("["):
            into = found.setdefault(field.name, [])
            while not self.take("]"):
                self._add(field, into, self._message(field.kind, depth))
                self._between()
        elif field.repeated:
            self._add(field, found.setdefault(field.name, []), self._message(field.kind, depth))
        else:
            self._once(field, found)
            found[field.name] = self._message(field.kind, depth)

    def _message(self, name: str | None, depth: int) -> dict[str, Any]:
        close = _CLOSING.get(self.token) if self.kind == "mark" else None
        if close is None:
            raise self.error(f"{self.shown()} begins no message")
        self.next()
        found = self._fields(name, close, depth + 1)
        self.next()
        return found

    def _once(self, field: Field, found: dict[str, Any]) -> None:
        if field.name in found:
            raise self.error(f"The field {field.name!r} is given twice")

    def _add(self, field: Field, into: list[Any], value: Any) -> None:
        into.append(value)
        if field.limit and len(into) > field.limit:
            raise self.error(f"A message has more than {field.limit:,} fields {field.name!r}", "too-large")

    def _between(self) -> None:
        """Check what follows an element of a list: a comma and another element, or the end."""
        if self.at_mark("]"):
            return
        if not self.take(",") or self.at_mark("]"):
            raise self.error(f"{self.shown()} does not go on with the list")

    # -- scalars ----------------------------------------------------------------------------------------
    def _scalars(self, field: Field, found: dict[str, Any]) -> None:
        if not self.take(":"):
            raise self.error(f"{self.shown()} follows the field {field.name!r}; expected ':'")
        if not field.repeated:
            self._once(field, found)
            found[field.name] = self._scalar(field)
        elif self.take("["):
            into = found.setdefault(field.name, [])
            while not self.take("]"):
                self._add(field, into, self._scalar(field))
                self._between()
        else:
            self._add(field, found.setdefault(field.name, []), self._scalar(field))

    def _scalar(self, field: Field) -> Any:
        if field.kind in ("string", "bytes"):
            raw = self._string(field)
            if field.kind == "bytes":
                return raw
            try:
                return raw.decode("utf-8")
            except UnicodeDecodeError:
                raise self.error(f"The string before this, of {field.name!r}, is not UTF-8") from None
        negative = self.take("-")
        value = self._number(field, negative)
        self.next()
        return value

    def _number(self, field: Field, negative: bool) -> Any:
        token, sign = self.token, -1 if negative else 1
        if field.kind in ("float", "double"):
            value = _NOT_FINITE.get(token.lower()) if self.kind == "name" else None
            if self.kind == "float" or (self.kind == "int" and (token == "0" or token[0] != "0")):
                value = float(token.rstrip("fF"))
                value = float("inf") if field.kind == "float" and value > _LARGEST_FLOAT else value
            if value is None:
                raise self._not_a(field, "number")
            return _single(sign * value) if field.kind == "float" else sign * value
        if self.kind == "name":
            known = _BOOLS if field.kind == "bool" else self.enums if field.kind == "int" else {}
            if negative or token not in known:
                raise self._not_a(field, "bool" if field.kind == "bool" else "integer or known name")
            return known[token]
        if self.kind != "int" or len(token) > 64:
            raise self._not_a(field, "integer")
        value = sign * int(token, 16 if token[:2] in ("0x", "0X") else 8 if token[0] == "0" else 10)
        low, high = {"bool": (0, 1), "uint": (0, 2**64 - 1)}.get(field.kind, (-(2**63), 2**63 - 1))
        if not low <= value <= high or (negative and field.kind in ("bool", "uint")):
            raise self.error(f"{value} is out of the range of the field {field.name!r}")
        return bool(value) if field.kind == "bool" else value

    def _not_a(self, field: Field, wanted: str) -> TextError:
        return self.error(f"{self.shown()} is no {wanted} for the field {field.name!r}")

    def _string(self, field: Field) -> bytes:
        if self.kind != "text":
            raise self._not_a(field, "string")
        parts = []
        while self.kind == "text":
            body = self.token[1:-1]
            parts.append(self.unescaped(body) if "\\" in body else body.encode())
            self.next()
        return b"".join(parts)

    # -- fields that the tables lack --------------------------------------------------------------------
    def _unknown(self, label: str, depth: int) -> None:
        colon = self.take(":")
        if self.take("["):
            while not self.take("]"):
                self._unknown_value(label, depth, True)
                self._between()
        else:
            self._unknown_value(label, depth, colon)

    def _unknown_value(self, label: str, depth: int, scalar: bool) -> None:
        if self.at_mark(*_CLOSING):
            self._message(None, depth)
        elif not scalar:
            raise self.error(f"{self.shown()} follows the field {clipped(label)}; expected ':' or a message")
        elif self.kind == "text":
            self._string(Field(label, "bytes"))
        else:
            self.take("-")
            if self.kind not in ("name", "int", "float"):
                raise self.error(f"{self.shown()} is not a value for the field {clipped(label)}")
            self.next()


def _single(value: float) -> float:
    """The nearest float32, as a message holds it."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])
