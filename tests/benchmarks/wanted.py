"""The figures that are wanted, as ratios of two measured times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ORT, SCANS = "onnxruntime Loop, untraced", "onnxruntime Loop, scan outputs"
PLAIN, C, JAX, TORCH = "Python / NumPy", "C -O3", "JAX jit", "torch eager"
UNTRACED, TRACED, STATS = "workbench, untraced", "workbench, every value traced", "workbench, statistics"
CARRIED = "workbench, loop variables traced"
SESSION, COLD = "workbench session, making to end", "workbench, traced, fresh process"


def met(holds: bool) -> str:
    return "met   " if holds else "MISSED"


@dataclass(frozen=True)
class Wanted:
    """time[slow] / time[fast] is to be ``at_least``, or time[fast] / time[slow] ``at_most`` (then it is a cost)."""

    workload: str
    fast: str
    slow: str
    at_least: float | None = None
    at_most: float | None = None
    stretch: bool = False

    def line(self, seconds: Mapping[str, float]) -> str:
        """One line of the report: measured, wanted, and met or missed."""
        goal = f"at least {self.at_least:g}" if self.at_least is not None else f"at most {self.at_most:g}"
        name = f"{self.fast} against {self.slow}" + (" (stretch)" if self.stretch else "")
        if (gone := [j for j in (self.fast, self.slow) if j not in seconds]) != []:
            return f"  not measured  {name}: {goal}; {' and '.join(gone)} did not run"
        ratio = seconds[self.slow] / seconds[self.fast]
        ratio = ratio if self.at_least is not None else 1 / ratio
        holds = ratio >= self.at_least if self.at_least is not None else ratio <= (self.at_most or 0)
        return f"  {met(holds)}  {ratio:8.2f}  {name}: {goal}"


WANTED = (
    Wanted("newton", TRACED, ORT, at_least=150),
    Wanted("newton", TRACED, SCANS, at_least=450),
    Wanted("newton", TRACED, PLAIN, at_least=3.5),
    Wanted("newton", TRACED, UNTRACED, at_most=1.05),
    Wanted("newton", COLD, ORT, at_least=15),
    Wanted("newton", UNTRACED, C, at_most=1.5, stretch=True),
    Wanted("nested", TRACED, ORT, at_least=100),
    Wanted("collatz", TRACED, ORT, at_least=100),
    Wanted("nested", UNTRACED, C, at_most=2),
    Wanted("collatz", UNTRACED, C, at_most=4),
    Wanted("gd", TRACED, ORT, at_least=30),
    Wanted("stencil-1e3", TRACED, ORT, at_least=3),
    Wanted("stencil-1e3", TRACED, UNTRACED, at_most=1.3),
    Wanted("stencil-1e3", UNTRACED, C, at_most=2.5),
    *(Wanted(name, CARRIED, UNTRACED, at_most=1.1) for name in ("newton", "nested", "collatz", "gd", "stencil-1e3")),
    Wanted("stencil-1e3", STATS, ORT, at_least=5),
    Wanted("stencil-1e6", STATS, ORT, at_least=1.2),
    Wanted("stencil-1e6", TRACED, UNTRACED, at_most=1.2),
)
