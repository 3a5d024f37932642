"""Lines of LLVM IR under construction, and the types of its values."""

from __future__ import annotations

from dataclasses import dataclass, field

#: dtype -> LLVM type, and its bytes
TYPES = {"bool": "i8", "int32": "i32", "int64": "i64", "float32": "float", "float64": "double"}
SIZES = {"bool": 1, "int32": 4, "int64": 8, "float32": 4, "float64": 8}


@dataclass
class Code:
    """Lines of a function under construction; ``let`` names the value of an instruction, beginning with ``stem``."""

    stem: str
    lines: list[str] = field(default_factory=list)
    intrinsics: set[str] = field(default_factory=set)
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"{self.stem}{self.count}"

    def let(self, instruction: str) -> str:
        name = f"%{self.name()}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def at(self, pointer: str, offset: int | str) -> str:
        """The address so many bytes after another one."""
        return self.let(f"getelementptr i8, ptr {pointer}, i64 {offset}")

    def do(self, instruction: str) -> None:
        self.lines.append(f"  {instruction}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def call(self, result: str, function: str, *operands: tuple[str, str]) -> str:
        """The value of an intrinsic function."""
        types = ", ".join(t for t, _ in operands)
        self.intrinsics.add(f"declare {result} @{function}({types})")
        return self.let(f"call {result} @{function}({', '.join(f'{t} {v}' for t, v in operands)})")

    def any(self, *conditions: str) -> str:
        """The i1 that is true if one of these is."""
        found = conditions[0]
        for other in conditions[1:]:
            found = self.let(f"or i1 {found}, {other}")
        return found
