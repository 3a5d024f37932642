"""``python -m tests.evaluation.count_analysis``: how large the analysis of series is, room by room.

Lines of the sources, functions, ``if``s (branches of expressions and comprehensions, too), numbers that stand in a
comparison or in a constant at the top of a module, and numbers of the calibration tables, which a command makes.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import workbench

ROOT = Path(workbench.__file__).parents[1]
#: the rooms, and the files of each
ROOMS = {
    "labels": ("workbench/analysis/series", "kernels_pyx/series_fits"),
    "forecasts": ("workbench/analysis/forecast", "kernels_pyx/operand_laws"),
    "laws": ("workbench/analysis/laws",),
}
#: constants that a command of tests/evaluation prints
CALIBRATED = {"TABLE", "DEFAULT", "PRIORS", "FACTOR", "SHARE"}
#: numbers that are no thresholds
PLAIN = {-1, 0, 1, 2}


def sources(room: str) -> list[Path]:
    """Files of a room, in order."""
    found = [p for folder in ROOMS[room] for p in (ROOT / folder).rglob("*.p*")]
    return sorted(p for p in found if p.suffix in (".py", ".pyx", ".pxi") and "__pycache__" not in p.parts)


def counted(path: Path) -> Counter[str]:
    """The counts of one file."""
    text = path.read_text()
    counts = Counter({"lines": len(text.splitlines())})
    if path.suffix == ".py":
        return counts + of_python(ast.parse(text))
    code = re.sub(r'""".*?"""', "", re.sub(r"#.*", "", text), flags=re.S)
    counts["functions"] = len(re.findall(r"^\s*c?p?def\b[^\n]*\($|^\s*c?p?def\b[^\n]*\([^\n]*$", code, re.M))
    counts["ifs"] = len(re.findall(r"\b(?:if|elif)\b", code))
    compared = re.findall(r"(?:[<>]=?|[!=]=)\s*(-?\d+\.?\d*(?:e-?\d+)?)", code)
    counts["thresholds"] = sum(float(number) not in PLAIN for number in compared)
    return counts


def of_python(tree: ast.Module) -> Counter[str]:
    """The counts of Python."""
    counts: Counter[str] = Counter()
    for node in ast.walk(tree):
        counts["functions"] += isinstance(node, ast.FunctionDef)
        counts["ifs"] += isinstance(node, ast.If | ast.IfExp)
        if isinstance(node, ast.comprehension):
            counts["ifs"] += len(node.ifs)
        if isinstance(node, ast.Compare):
            counts["thresholds"] += sum(_numbers(side) for side in (node.left, *node.comparators))
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
            counts["calibrated" if names & CALIBRATED else "constants"] += _numbers(statement.value)
    return counts


def _numbers(node: ast.AST) -> int:
    """Numbers below a node that are not plain."""
    found = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return sum(isinstance(v, int | float) and not isinstance(v, bool) and v not in PLAIN for v in found)


def table() -> dict[str, Counter[str]]:
    """The counts of each room, and of all."""
    rooms = {room: sum((counted(path) for path in sources(room)), Counter()) for room in ROOMS}
    return rooms | {"all": sum(rooms.values(), Counter())}


def main() -> None:
    kinds = ("lines", "functions", "ifs", "thresholds", "constants", "calibrated")
    print(f"{'':10s}" + "".join(f"{kind:>12s}" for kind in kinds))
    for room, counts in table().items():
        print(f"{room:10s}" + "".join(f"{counts[kind]:12,}" for kind in kinds))


if __name__ == "__main__":
    main()
