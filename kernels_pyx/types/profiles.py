"""Type profiles: which element types a build is for. A name, names joined by ``+``, ``everything``, or a profile file.

A profile file is TOML, format 1::

    format = 1
    name = "newton"                         # optional; the file's name otherwise
    types = ["bool", "float64"]             # active types
    [ops]                                   # optional: only these combinations, instead of all that the rules admit
    add = ["float64,float64->float64"]
    less = ["float64,float64->bool"]

Standard library only.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.kernels.types.compilable import why_not
from workbench.kernels.types.dtypes import NAMES, TYPES
from workbench.kernels.types.ops import OPS
from workbench.kernels.types.rules import decide

FORMAT = 1
#: a compiled combination: op, input dtypes, output dtype
Instance = tuple[str, tuple[str, ...], str]


class ProfileError(ValueError):
    """A profile that cannot be used; the message says what was expected, what was given and what to change."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Element types, all of whose admitted combinations are compiled, and single combinations besides.

    ``types`` and ``extra`` are in the order of the type table and of the op table, so equal profiles compare equal.
    """

    name: str
    types: tuple[str, ...]
    sentence: str = ""
    extra: tuple[Instance, ...] = ()

    @property
    def active(self) -> tuple[str, ...]:
        """Every type that occurs in the build."""
        used = {t for _, inputs, output in self.extra for t in (*inputs, output)} | set(self.types)
        return tuple(t for t in NAMES if t in used)


def _profile(name: str, types: str, sentence: str) -> Profile:
    wanted = types.split()
    return Profile(name, tuple(t for t in NAMES if t in wanted), sentence)


PROFILES: dict[str, Profile] = {
    p.name: p
    for p in (
        _profile("quantization", "int8 uint8 float32 int32", "8-bit weights and activations, accumulated in int32."),
        _profile("training", "float16 bfloat16 float32 float64 int32 int64", "Mixed precision and its indices."),
        _profile("inference", "int8 uint8 float16 float32 int32", "Quantised and half precision, no training types."),
        _profile("nlp", "string float32 int32 int64", "Strings, token numbers and float32 embeddings."),
        _profile("cv", "uint8 float16 float32 int32", "Images as bytes, half and single precision."),
        _profile(
            "standard_all",
            "bool int8 uint8 int32 int64 float16 bfloat16 float32 float64 string",
            "The ten types that most graphs need.",
        ),
        _profile("everything", " ".join(TYPES), "Every type that this package knows."),
    )
}


@lru_cache(maxsize=64)
def resolve(text: str) -> Profile:
    """The profile for the value of the build option ``type_profile``.

    Parts joined by ``+`` are put together: combinations between the types of several named profiles count too, those of
    a file with ``[ops]`` come besides. A part with a slash or the suffix ``.toml`` is the path of a file.
    ProfileError for anything else.
    """
    parts = [part.strip() for part in text.split("+")]
    if not all(parts):
        raise ProfileError(f"type_profile {text!r} has an empty part: write for instance training+quantization")
    found = [read(Path(p)) if "/" in p or p.endswith(".toml") else _named(p) for p in parts]
    if len(found) == 1:
        return found[0]
    types = {t for p in found for t in p.types}
    extra = dict.fromkeys(i for p in found for i in p.extra)
    sentence = " ".join(p.sentence for p in found)
    return Profile("+".join(p.name for p in found), tuple(t for t in NAMES if t in types), sentence, tuple(extra))


def _named(name: str) -> Profile:
    profile = PROFILES.get(name)
    if profile is None:
        raise ProfileError(
            f"type_profile {name!r} is unknown: expected one of {', '.join(PROFILES)}, several of them joined by +, "
            "or the path of a profile file that ends in .toml"
        )
    return profile


def read(path: Path) -> Profile:
    """A profile from its file; ProfileError names the file and the entry at fault."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProfileError(f"profile file {path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProfileError(f"profile file {path} is no TOML: {error}") from None
    try:
        return parse(table, path.stem)
    except ProfileError as error:
        raise ProfileError(f"profile file {path}: {error}") from None


def parse(table: dict[str, Any], name: str) -> Profile:
    """A profile from the contents of a profile file; ``name`` stands in where it names itself none."""
    if unknown := sorted(table.keys() - {"format", "name", "types", "ops"}):
        raise ProfileError(f"unknown key {unknown[0]!r}: expected format, name, types and [ops]")
    if table.get("format") != FORMAT:
        raise ProfileError(f"format is {table.get('format')!r}: this version reads format = {FORMAT}")
    name = table.get("name", name)
    if not isinstance(name, str) or not name.replace("_", "").replace("-", "").isalnum():
        raise ProfileError(f"name is {name!r}: expected letters, digits, - and _")
    types = table.get("types")
    if not isinstance(types, list) or not types or not all(isinstance(t, str) for t in types):
        raise ProfileError('types is missing or empty: expected a list such as types = ["float32", "int32"]')
    if strange := [t for t in types if t not in TYPES]:
        raise ProfileError(f"types names {strange[0]!r}: expected dtypes out of {', '.join(NAMES)}")
    ordered = tuple(t for t in NAMES if t in types)
    if "ops" not in table:
        return Profile(name, ordered, f"The types of the profile file {name}.")
    ops = table["ops"]
    if not isinstance(ops, dict):
        raise ProfileError("ops is not a table: expected a section [ops]")
    wanted = {_instance(op, text, ordered) for op, texts in ops.items() for text in _texts(op, texts)}
    extra = instances_in_order(wanted)
    return Profile(name, (), f"{len(extra)} combinations of the profile file {name}.", extra)


def instances_in_order(wanted: Iterable[Instance]) -> tuple[Instance, ...]:
    """Instances in the order of the op table, and of the type table within an op."""
    rank = {op: k for k, op in enumerate(OPS)}
    return tuple(sorted(wanted, key=lambda i: (rank[i[0]], *(NAMES.index(t) for t in (*i[1], i[2])))))


def _texts(op: str, texts: Any) -> list[str]:
    if op not in OPS:
        raise ProfileError(f"[ops] names {op!r}, which is not an op with a typed kernel")
    if not isinstance(texts, list) or not all(isinstance(t, str) for t in texts):
        raise ProfileError(f'[ops] {op} is not a list of texts: expected for instance ["float32,float32->float32"]')
    return texts


def _instance(op: str, text: str, types: tuple[str, ...]) -> Instance:
    left, arrow, output = (part.strip() for part in text.partition("->"))
    inputs = tuple(t.strip() for t in left.split(","))
    if not arrow or any(t not in TYPES for t in (*inputs, output)):
        raise ProfileError(f"[ops] {op} has {text!r}: expected dtypes as in float32,float32->float32")
    if len(inputs) != OPS[op].inputs:
        raise ProfileError(f"[ops] {op} has {text!r}: {op} takes {OPS[op].inputs} inputs")
    if strange := [t for t in (*inputs, output) if t not in types]:
        raise ProfileError(f"[ops] {op} has {text!r}, but types does not list {strange[0]}")
    if reason := why_not(op, inputs, output):
        decision = decide(OPS[op].family, inputs, output)
        rule = f"rule {decision.rule}: " if not decision.accepted else ""
        raise ProfileError(f"[ops] {op} has {text!r}, which cannot be compiled. {rule}{reason}")
    return op, inputs, output


def write(profile: Profile, comment: str = "") -> str:
    """The text of a profile file that :func:`read` reads back."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    quoted = ", ".join(f'"{t}"' for t in profile.active)
    lines += [f"format = {FORMAT}", f'name = "{profile.name}"', f"types = [{quoted}]"]
    if profile.extra and profile.types:
        raise ProfileError(f"profile {profile.name} has both types and single combinations, which no one file can hold")
    if profile.extra or not profile.types:
        lines += ["", "[ops]"]
        by_op: dict[str, list[str]] = {}
        for op, inputs, output in profile.extra:
            by_op.setdefault(op, []).append(f'"{",".join(inputs)}->{output}"')
        lines += [f"{op} = [{', '.join(texts)}]" for op, texts in by_op.items()]
    return "\n".join(lines) + "\n"
