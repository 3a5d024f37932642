from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

def memory(size: int) -> NDArray[np.uint8]: ...
def gather(rows: NDArray[np.uint8], moves: list[tuple[int, int, int, int, NDArray[Any]]]) -> None: ...

class Blocks:
    row_bytes: int
    def __init__(self, series: Iterable[tuple[int, int, int, int, Sequence[tuple[int, int, int]], bool]]) -> None: ...
    def describe(
        self,
        rows: NDArray[np.uint8],
        before: NDArray[np.uint8] | None,
        first: int,
        begun: NDArray[np.int64],
        length: int,
        lasts: NDArray[Any],
    ) -> list[NDArray[Any]]: ...
