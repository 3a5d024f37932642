"""The table of commands, each with its names, group, usage and description."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.errors import SessionError
from workbench.text import similar_names

if TYPE_CHECKING:
    from workbench.cli.terminal.shell import Terminal

#: arguments of a command: the terminal, its words, and the rest of the line after the command's name
Carry = Callable[["Terminal", list[str], str], None]
GROUPS = ("Stepping", "Inspecting", "Breakpoints", "Editing", "Files", "Terminal")


@dataclass(frozen=True, slots=True)
class Command:
    """If ``repeat``, an empty line repeats the command. ``names`` is the kind of names that complete its first word."""

    name: str
    aliases: tuple[str, ...]
    group: str
    usage: str
    text: str
    carry: Carry
    repeat: bool = False
    names: str = ""


COMMANDS: dict[str, Command] = {}
_BY_WORD: dict[str, Command] = {}


def command(
    names: str, group: str, usage: str, text: str, *, repeat: bool = False, completes: str = ""
) -> Callable[[Carry], Carry]:
    """Register a command: ``names`` is its name and its aliases, separated by spaces."""

    def register(carry: Carry) -> Carry:
        name, *aliases = names.split()
        made = Command(name, tuple(aliases), group, usage, text, carry, repeat, completes)
        COMMANDS[name] = made
        for word in (name, *aliases):
            if word in _BY_WORD:
                raise ValueError(f"two commands are called {word!r}")
            _BY_WORD[word] = made
        return carry

    return register


def find(word: str) -> Command:
    """The command with this name, alias, or unique beginning of a name; SessionError with similar names."""
    word = word.lower().replace("_", "-")
    if word in _BY_WORD:
        return _BY_WORD[word]
    begun = [c for name, c in COMMANDS.items() if name.startswith(word)]
    if len(begun) == 1:
        return begun[0]
    near = [c.name for c in begun] or similar_names(word, _BY_WORD)
    raise SessionError(
        f"Unknown command {word[:40]!r}." if not begun else f"{word!r} is ambiguous.",
        slug="unknown-command",
        fix=f"did you mean {' or '.join(near)}?" if near else "help lists the commands.",
    )


def is_command(word: str) -> bool:
    """True for the full name or an alias of a command."""
    return word.lower().replace("_", "-") in _BY_WORD


def words() -> list[str]:
    """All names and aliases."""
    return sorted(_BY_WORD)
