from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

STATUS_NAMES: tuple[str, ...]
ARRAY_KINDS: tuple[str, ...]
CONDITION_KINDS: tuple[str, ...]
CONDITION_OPS: tuple[str, ...]
POINT_STATUS: dict[str, int]

class ProgramError(ValueError): ...

class HeldElsewhere:
    """Base of objects whose ``nbytes`` bytes are not in this process, such as arrays on a device. In rows they count as
    arrays do."""

    def __init__(self, nbytes: int) -> None: ...
    @property
    def nbytes(self) -> int: ...

class Program:
    length: int
    n_frames: int
    def __init__(
        self,
        instructions: list[dict[str, Any]],
        literals: list[tuple[int, int, int]],
        frames: list[tuple[int, int, int, list[int]]],
        pool: bytes,
        pool_objects: dict[int, Any],
        calls: list[tuple[Any, list[Any], list[Any], int, Callable[..., Any] | None, tuple[int, ...] | None]],
        stores: Sequence[tuple[int, int, list[tuple[int, int]], list[tuple[str, tuple[int, ...]]]]] = (),
        constants: Sequence[NDArray[Any]] = (),
        releases: Sequence[tuple[int, int]] = (),
        regions: Sequence[tuple[Any, list[Any], list[Any]]] = (),
    ) -> None: ...
    def listing(self) -> str: ...
    def verify(self) -> None: ...

class Machine:
    """State of one run of a program.

    ``budget`` bounds the bytes that it holds: ``held_bytes`` counts chunks of rows, what objects hold, tables of
    activations, ``checkpoint_bytes`` (set by the owner of the checkpoints) and ``reserved_bytes``. Room is made before
    more is taken, by dropping the oldest rows of the store that holds most. ``least_bytes`` of rows always stay, and
    what the objects of the last three rows hold. ``make_room(more)`` drops rows until so many bytes fit.

    Rows that leave: when the budget is full, a store loses its oldest chunk, or some rows of it where objects are
    large. Whoever keeps rows elsewhere sets ``retire`` and ``rewind`` before the first row is written (they may be
    changed only while the machine stands):

    retire(store, first_row, rows, objects)
        Called on the thread that runs the machine, with the GIL, just before rows of ``store`` are dropped: rows
        ``first_row`` to ``first_row + len(rows)`` leave. Stores 0 to n_frames - 1 are the frames (the first row of an
        activation is its init row; a value of shift -1 stands in the row before its firing), the others those of
        arrays, as in ``View.column``. ``rows`` is a read-only uint8 array (n, row_bytes) on the chunk's own memory,
        which is used again: copy what is kept. (An array of it that is still referred to after the call stops the run
        with a BufferError.) ``objects`` maps the offset of each object column to the list of its n references, None
        where a slot is empty; these may be kept, the bytes in their slots of ``rows`` mean nothing. Slots of nodes that
        did not fire hold old bytes or old references: guards tell. Of one store the rows come without gaps and in
        order, each once. It may use a View of this machine. When it raises, the rows stay and the run stops as at a
        node that fails (``retire_failed`` is set, ``error`` holds the exception); the run may go on, and calls it
        again. ``make_room`` and going back may call it too.
    rewind(store, row)
        Called by ``restore`` before anything moves, for every store of which retired rows will be written anew:
        ``row`` and all later ones will be retired again, or stand in the machine. When it raises, restore does, and the
        machine stands where it stood.

    ``reserved_bytes`` are bytes of the budget that others hold, such as that owner; they may be set at any time. The
    row store of the outermost level is never dropped. With ``retire_computed`` the rows that the hook gets hold what is
    computed again, too; without it only what is recorded, which costs nothing. A machine without the hook pays nothing
    for it; forks of a run have none.

    ``regions``: whether regions of the program run as one call each where nobody stops inside, which writes the same
    values; by default their instructions run one by one.
    """

    budget: int
    window: int
    least_released: int
    ignore_traps: bool
    regions: bool
    error: BaseException | None
    retire_computed: bool
    retire: Callable[[int, int, NDArray[np.uint8], dict[int, list[Any]]], object] | None
    rewind: Callable[[int, int], object] | None
    reserved_bytes: int
    checkpoint_bytes: int
    @property
    def held_bytes(self) -> int: ...
    @property
    def least_bytes(self) -> int: ...
    def make_room(self, more: int) -> None: ...
    @property
    def retire_failed(self) -> bool: ...
    @property
    def program(self) -> Program: ...
    @property
    def cache_hits(self) -> int: ...
    @property
    def cache_misses(self) -> int: ...
    @property
    def dropped_chunks(self) -> int: ...
    @property
    def epoch(self) -> int: ...
    @property
    def released_objects(self) -> int: ...
    def __init__(self, program: Program, budget: int = 0, window: int = 0) -> None: ...
    def run(
        self,
        limit: int = -1,
        exact: bool = False,
        through: bool = False,
        watch_frame: int = -1,
        watch_row: int = -1,
        loud: bool = True,
        home_start: int = -2,
        home_stop: int = 0x7FFFFFFF,
        home_frame: int = -1,
        stop_frame: int = -1,
        stop_row: int = -1,
    ) -> str: ...

class Snapshot:
    @property
    def events(self) -> int: ...
    @property
    def ip(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    def row(self, frame: int) -> int: ...
    def counts(self, frame: int) -> tuple[int, int, int, int]: ...

class View:
    def __init__(self, machine: Machine) -> None: ...
    def rows(self, frame: int) -> tuple[int, int, int]: ...
    def first(self, store: int, shift: int, offset: int = 0) -> int: ...
    def rows_kept(self, store: int) -> int: ...
    def iteration(self, frame: int) -> int: ...
    def column(
        self,
        frame: int,
        offset: int,
        dtype: DTypeLike | None,
        start: int,
        stop: int,
        step: int = 1,
        shape: tuple[int, ...] = (),
        shift: int = 0,
    ) -> tuple[int, Any]: ...
    def released(self, offset: int) -> bool: ...
    def pool(self, offset: int, dtype: DTypeLike | None) -> Any: ...
    def activations(self, frame: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def counts(self, frame: int) -> tuple[int, int, int, int]: ...
    def changed_from(self, store: int, epoch: int) -> int: ...
    @property
    def ip(self) -> int: ...
    @property
    def events(self) -> int: ...
    @property
    def epoch(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def objects(self) -> int: ...
    @property
    def peak(self) -> int: ...
    def store_bytes(self, store: int) -> int: ...

class ReleasedError(RuntimeError):
    def __init__(self, place: tuple[int, int], until: int) -> None: ...
    @property
    def place(self) -> tuple[int, int]: ...
    @property
    def until(self) -> int: ...

def request_stop(machine: Machine, on: bool = True) -> None: ...
def put(
    machine: Machine, base: int, offset: int, dtype: DTypeLike | None, shape: tuple[int, ...], item: Any
) -> None: ...
def arm(machine: Machine, ip: int, on: bool, iteration: int = -1) -> None: ...
def arm_many(machine: Machine, changes: Sequence[tuple[int, bool, int]]) -> None: ...
def set_conditions(
    machine: Machine, conditions: list[dict[str, Any]], sites: list[tuple[int, int, int, int, int, int]]
) -> None: ...
def reported(machine: Machine) -> list[int]: ...
def skip_hits(machine: Machine, number: int, left: int) -> None: ...
def drain_hits(machine: Machine) -> list[tuple[int, int, NDArray[np.int64]]]: ...
def current_instruction(machine: Machine) -> tuple[int, bool, bool]: ...
def release(machine: Machine, ip: int) -> None: ...
def snapshot(machine: Machine, active: Iterable[int]) -> Snapshot: ...
def restore(machine: Machine, s: Snapshot) -> None: ...
def note_edit(
    machine: Machine, base: int, at: int, store: int, row: int, offset: int, size: int, opened: list[int]
) -> None: ...
def carry_out(machine: Machine, start: int, stop: int) -> int: ...
def first_difference(
    machine: Machine,
    frame: int,
    start: int,
    stop: int,
    guard: list[tuple[int, int, int]],
    outputs: list[tuple[int, int, int]],
    row: int,
    last: int,
) -> tuple[int, int]: ...
def window(machine: Machine, base: int, offset: int, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]: ...
def same_bits(a: Any, b: Any) -> bool: ...
def holds(machine: Machine, guard: list[tuple[int, int, int]]) -> bool: ...
def outermost_events(machine: Machine, stop: int, loops: dict[int, int]) -> tuple[int, int, dict[int, int]]: ...
def loop_events(machine: Machine, frame: int) -> int: ...
def head_of(machine: Machine, frame: int) -> int: ...
def counts(machine: Machine) -> list[tuple[int, int, int, int]]: ...
def set_position(
    machine: Machine,
    ip: int,
    events: int,
    stores: dict[int, tuple[int, int, int, int]],
    opened: dict[int, int] | None = None,
) -> None: ...
def base_events(machine: Machine) -> int: ...
def revised(s: Snapshot, machine: Machine, shift: int, stores: Iterable[int]) -> Snapshot: ...
def drop_stores(s: Snapshot, stores: Iterable[int]) -> None: ...

class PointSpecs:
    """Columns of :func:`run_points`. All arrays are contiguous bytes (uint8) but for ``counts`` (int64).

    feeds: (base, offset, (points or 1, bytes)). outputs: (base, offset, literals of its guard, (points, bytes),
    alive (points,)). series: (frame, store, offset, shift, (points, length, bytes), counts (points,)): the newest
    values of a loop variable, right-aligned. states: (frame, store, offset, shift, bytes): what a loop carries.
    spans: (frame, first instruction - 1, last + 1) of the frames that are looked at for a recurrence.
    """

    def __init__(
        self,
        machine: Machine,
        points: int,
        feeds: list[tuple[int, int, NDArray[np.uint8]]],
        outputs: list[tuple[int, int, list[tuple[int, int, int]], NDArray[np.uint8], NDArray[np.uint8]]],
        series: list[tuple[int, int, int, int, NDArray[np.uint8], NDArray[np.int64]]],
        states: list[tuple[int, int, int, int, int]],
        spans: list[tuple[int, int, int]],
    ) -> None: ...

def run_points(
    machine: Machine,
    specs: PointSpecs,
    start: int,
    stop: int,
    limit: int,
    status: NDArray[np.uint8],
    events: NDArray[np.int64],
    iterations: NDArray[np.int64],
    periods: NDArray[np.int64],
    failures: list[tuple[int, int, BaseException]],
) -> int: ...
def move_kernel(size: int) -> int: ...
def opcodes() -> list[tuple[str, bool, str, str]]: ...
def scalar_ops() -> list[str]: ...
def ufunc_loop(ufunc: np.ufunc, dtypes: Iterable[DTypeLike]) -> tuple[int, int, bool] | None: ...
