"""TensorFlow messages in binary or text form -> plain dicts; malformed bytes raise a LoadError."""

from __future__ import annotations

from typing import Any

from workbench.errors import LoadError
from workbench.frontends.protobuf.textproto import TextReader
from workbench.frontends.protobuf.texttokens import TextError
from workbench.frontends.protobuf.wire import Reader, Schema, WireError
from workbench.frontends.sniff import is_text
from workbench.frontends.tf.schema import ENUMS


def read_message(data: bytes, schema: Schema, name: str, slug: str) -> dict[str, Any]:
    """``data`` as message ``name``; raises LoadError: ``empty``, ``truncated``, ``too-large``, else ``slug``."""
    if not data:
        raise LoadError(f"The {name} has no bytes.", slug="empty", fix="write the file again; it is empty.")
    try:
        if is_text(data):
            return TextReader(data, schema, ENUMS).message(name)
        return Reader(data, schema).message(name)
    except (TextError, WireError) as error:
        if error.slug == "too-large":
            raise
        if error.slug == "truncated":
            raise LoadError(
                f"The {name} is cut off: {error.message}", slug="truncated", fix="fetch or write the file again."
            ) from error
        form = "in text form" if isinstance(error, TextError) else "in binary form"
        raise LoadError(
            f"This is no {name} {form}: {error.message}", slug=slug, fix="write it again with the tool that made it."
        ) from error
