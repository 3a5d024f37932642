from typing import Any

FUNCTIONS: tuple[str, ...]

class SessionCall:
    def __init__(
        self,
        functions: tuple[int, ...],
        memory: int,
        session: int,
        inputs: list[bytes],
        outputs: list[bytes],
        fed: list[int],
        kinds: tuple[Any, ...],
        elements: dict[int, int],
        dtypes: dict[int, Any],
        refusal: type[Exception],
        kept: Any,
    ) -> None: ...
    def __call__(self, operands: list[Any], results: list[Any]) -> list[Any]: ...
