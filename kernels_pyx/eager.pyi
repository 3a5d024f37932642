from collections.abc import Iterable
from types import CodeType
from typing import Any

INFINITE: int
NOT_A_NUMBER: int
MEANT: int

class OpEvent:
    site: int
    row: int
    iteration: int
    parents: tuple[OpEvent, ...]
    flag: int
    made: bool
    def __init__(
        self, site: int, row: int, iteration: int, parents: tuple[OpEvent, ...], flag: int, made: bool
    ) -> None: ...

class OpInfo:
    op: str
    overload: str
    written: tuple[int, ...]
    written_names: tuple[str, ...]
    view: bool
    unwritten: bool
    constant: bool
    singular: bool
    wrapping: bool
    arithmetic: bool
    rising: bool
    values: int | None
    overwritten: tuple[int, ...]
    by_index: bool
    single: bool
    random: bool
    gives: bool
    reads_back: bool
    def __init__(
        self,
        op: str,
        overload: str,
        written: tuple[int, ...],
        written_names: tuple[str, ...],
        view: bool,
        unwritten: bool,
        constant: bool,
        singular: bool,
        wrapping: bool,
        arithmetic: bool,
        rising: bool,
        values: int | None,
        overwritten: tuple[int, ...],
        by_index: bool,
        single: bool,
        random: bool,
        gives: bool,
        reads_back: bool,
    ) -> None: ...

class Storages:
    writers: dict[int, tuple[int, OpEvent]]
    def __init__(self, storage: Any) -> None: ...
    def __len__(self) -> int: ...
    def __contains__(self, address: object) -> bool: ...
    def writer(self, tensor: Any) -> OpEvent | None: ...
    def wrote(self, storage: Any, event: OpEvent) -> None: ...
    def forget(self, tensor: Any) -> None: ...
    def sweep(self) -> None: ...
    def close(self) -> None: ...

class Lines:
    def __init__(self) -> None: ...
    def here(self) -> tuple[str, int]: ...
    def is_own(self, code: CodeType) -> bool: ...

class StepCallList:
    calls: list[tuple[OpInfo, list[Any], list[Any], list[Any], bool]]
    rows: list[tuple[int, ...]]
    numbers: list[float]
    floats: list[int]
    locals: dict[int, int]
    previous: dict[int, int]
    given: dict[int, Any]
    lengths: dict[int, int]
    random: dict[int, Any]
    read: dict[int, Any]
    def __init__(self) -> None: ...

class StepCalls:
    now: StepCallList
    known: dict[int, int]
    bytes: int
    def __init__(self, torch: Any, part_class: type, float_mark: Any) -> None: ...
    def begin(self, calls: StepCallList, expected: list[Any] | None = None) -> None: ...
    def forget(self, tensor: Any) -> None: ...

class OpCalls:
    torch: Any
    phases: Any
    log: Any
    storages: Storages
    unwritten: OpEvent
    iteration: int
    current: list[OpEvent]
    read_back: list[tuple[Any, OpEvent | None]]
    examined: Any
    steps: Any
    def __init__(self, torch: Any, phases: Any, log: Any, types: dict[Any, int]) -> None: ...
    def info(self, func: Any) -> OpInfo: ...
    def before(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None: ...
    def took(self, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> None: ...
    def event(self, tensor: Any, base: tuple[Any, ...]) -> OpEvent: ...
    def is_plain(self, value: Any) -> bool: ...
    def scan(self, site: int, tensor: Any) -> int: ...
    def next(self, most: int) -> None: ...
    # of the class made from this one
    def describe(self, func: Any) -> OpInfo: ...
    def was(self, info: OpInfo, args: Any) -> Any: ...
    def site(self, info: OpInfo, base: Any, n: int, k: int) -> int: ...
    def wrapped(self, info: OpInfo, event: OpEvent, args: Any, tensor: Any) -> None: ...
    def meant(self, info: OpInfo, args: Any, parents: tuple[OpEvent, ...]) -> bool: ...
    def given(self, info: OpInfo, args: Any, kwargs: Any, out: Any) -> list[Any]: ...
    def operands(self, info: OpInfo, args: Any, kwargs: Any) -> Iterable[Any]: ...
    def operands_at(self, args: Any, kwargs: Any, k: int) -> Iterable[Any]: ...
    def from_outside(self, tensor: Any, base: Any) -> OpEvent: ...
    def no_steps(self, error: Exception) -> None: ...
