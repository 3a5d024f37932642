"""Readers of other libraries under random changes: ``python -m tests.fuzz.mutate TARGET [COUNT]``.

For readers that cannot be driven by coverage, because their library is not instrumented. Prints the number of inputs
by the slug of their errors; an input that breaks a promise is written to build/fuzz/TARGET.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.seeds import SEEDS, WORDS
from tests.fuzz.targets import NEEDS, SECONDS, check


def mutations(name: str, count: int, seed: int = 7) -> Iterator[bytes]:
    """Inputs of a target with some bytes, words or stretches changed."""
    rng, seeds = random.Random(seed), list(SEEDS[name]())
    words = WORDS.get(name) or [b"\0"]
    for _ in range(count):
        made = bytearray(rng.choice(seeds))
        for _ in range(rng.choice((1, 1, 2, 4, 16))):
            at, other = rng.randrange(len(made) + 1), rng.randrange(len(made) + 1)
            match rng.randrange(6):
                case 0:
                    made[at : at + 1] = bytes((rng.randrange(256),))
                case 1:
                    made[at : at + rng.choice((0, 1, 8))] = rng.choice(words)
                case 2:
                    made[at : at + rng.choice((1, 8, 64))] = b""
                case 3:
                    made[at:at] = made[other : other + rng.choice((4, 32, 256))]
                case 4 if len(made) > at:
                    made[at] ^= 1 << rng.randrange(8)
                case 5 if rng.random() < 0.1:
                    del made[at:]
        yield bytes(made)


def main() -> None:
    name, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    slugs: Counter[str] = Counter()
    folder = Path("build/fuzz") / name
    folder.mkdir(parents=True, exist_ok=True)
    for k, raw in enumerate(mutations(name, count)):
        (folder / "latest").write_bytes(raw)  # an input that ends the process
        try:
            slugs[check(name, raw, NEEDS.get(name, ("", "", SECONDS))[2]) or "read"] += 1
        except Exception as error:
            slugs["BROKEN"] += 1
            (folder / f"broken-{k}").write_bytes(raw)
            print(f"{k}: {type(error).__name__}: {str(error)[:300]}", flush=True)
    print(f"{name}: {sum(slugs.values())} inputs: {dict(slugs.most_common())}", flush=True)


if __name__ == "__main__":
    main()
