"""``python -m tests.evaluation.compare_versions``: two versions of ``classify`` on the same histories.

``--write FILE`` keeps the answers to the corpus and to random histories as JSON; with ``--against FILE`` the present
answers are compared with kept ones: labels gained and lost, numbers that became better or worse, and the time.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.evaluation.corpus import cases
from tests.evaluation.random_histories.families import histories
from workbench.analysis import classify

SEED, COUNT = 77, 3000
_FACTS = {"rate": "rate", "exponent": "sublinear_exponent", "order": "order", "period": "period", "limit": "limit"}


def records() -> Iterator[tuple[str, np.ndarray, str, dict[str, float]]]:
    """(name, values, label, facts), always the same."""
    for i, case in enumerate(cases()):
        yield f"{i} {case.family}", case.values, case.label, case.facts
    for i, h in enumerate(histories(SEED, COUNT)):
        yield f"r{i} {h.family}", h.values, h.label, h.facts


def answers() -> dict[str, dict[str, Any]]:
    """By name: the label, relative errors of known numbers, and microseconds (the least of three)."""
    out = {}
    for name, values, label, facts in records():
        seconds = []
        for _ in range(3):
            begin = time.perf_counter()
            answer = classify(values)
            seconds.append(time.perf_counter() - begin)
        errors = {}
        for fact, attribute in _FACTS.items():
            found = getattr(answer, attribute)
            if fact in facts:
                truth = facts[fact]
                off = np.inf if found is None else abs(found - truth)
                scale = abs(float(values[-1]) - truth) if fact == "limit" else abs(truth)
                errors[fact] = float(min(off / max(scale, 1e-300), 1e300))
        out[name] = {
            "right": answer.label.name == label,
            "label": answer.label.name,
            "errors": errors,
            "us": 1e6 * min(seconds),
        }
    return out


def compare(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> list[str]:
    """Lines that say what changed."""
    both = [name for name in before if name in after]
    lines = [f"{len(both)} histories; right before {sum(before[n]['right'] for n in both)}, now "]
    lines[0] += str(sum(after[n]["right"] for n in both))
    for name in both:
        a, b = before[name], after[name]
        if a["right"] != b["right"]:
            lines.append(f"{'better' if b['right'] else 'WORSE '} {name}: {a['label']} -> {b['label']}")
    for fact in _FACTS:
        pairs = [(before[n]["errors"][fact], after[n]["errors"][fact]) for n in both if fact in before[n]["errors"]]
        if pairs:
            a, b = (np.median([p[i] for p in pairs]) for i in (0, 1))
            worse = sum(v > 2 * u + 1e-6 for u, v in pairs)
            lines.append(f"{fact}: median relative error {a:.2g} -> {b:.2g}; of {len(pairs)}, {worse} twice as far off")
    for word, f in (("median", np.median), ("worst", np.max)):
        then, now = (f([version[n]["us"] for n in both]) for version in (before, after))
        lines.append(f"{word} microseconds {then:.0f} -> {now:.0f}")
    return lines


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] not in ("--write", "--against"):
        raise SystemExit(__doc__)
    path, now = Path(sys.argv[2]), answers()
    if sys.argv[1] == "--write":
        path.write_text(json.dumps(now))
    else:
        print("\n".join(compare(json.loads(path.read_text()), now)))


if __name__ == "__main__":
    main()
