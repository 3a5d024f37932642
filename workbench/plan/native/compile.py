"""Machine code for the loops of a program, by LLVM (llvmlite, an optional package)."""

from __future__ import annotations

import importlib
import itertools
import os
import threading
from contextlib import suppress
from typing import Any

from workbench.kernels import machine as core
from workbench.libraries import is_missing
from workbench.plan.native.loop_code import LoopCode
from workbench.plan.native.survey import LoopSurvey, UnsuitableLoop
from workbench.threads import Lock

#: processor milliseconds of LLVM: for loading it, once per process; for a loop; for an instruction of it; and for a
#: checked instruction, which has many exits (``python -m tests.benchmarks.machine_code`` measures them)
LOADING, LOOP, INSTRUCTION, CHECKED = 50.0, 20.0, 0.35, 2.0
#: events that the interpreter carries out in one, at most; and how many times as long as LLVM takes it must have run:
#: a run that ends directly afterwards has lost a fifth of its time
EVENTS_OF_A_MILLISECOND, PATIENCE = 2_500_000, 5
#: events after which loops become machine code, instead of by this rule; None except in tests
HOT_EVENTS: int | None = None
#: whether loops are compiled in a thread other than that of the run
BESIDE_RUNS = True
MOST_INSTRUCTIONS = 2000  # of a loop: LLVM takes too long for more

_numbers = itertools.count()
_lock = Lock()
# a process is not forked while LLVM works: the lock would never be released in the child
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_library: Any = None
_reason = "llvmlite is not installed"


def _llvm() -> Any:
    """llvmlite's binding, initialised; None if it is not installed or cannot be used, with the reason in _reason."""
    global _library, _reason
    if _library is None:
        try:
            _library = importlib.import_module("llvmlite.binding")
            _library.initialize_native_target()
            _library.initialize_native_asmprinter()
        except Exception as error:  # any error of a broken installation
            _library = False
            if not is_missing("llvmlite"):
                _reason = f"llvmlite cannot be used: {error}"
    return _library or None


def _compiled(llvm: Any, text: str, name: str) -> tuple[int, Any]:
    """(address of the function, the object that keeps its code)."""
    module = llvm.parse_assembly(text)
    # more of its passes take 50 % longer, without faster code for the measured loops
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=1
    )
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    passes = llvm.create_pass_builder(target, options)
    passes.getModulePassManager().run(module, passes)
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    return engine.get_function_address(name), engine


class NativeLoops:
    """The machine code of a plan's loops: compiled once, after long runs, and used by all runs of the plan.

    It is compiled in a separate thread, while the run continues in the interpreter: LLVM does not need the GIL, and
    each call of the executor uses the code that is available. ``reasons`` maps the first instruction of each innermost
    loop to "" or the reason why the interpreter runs it; None until the code is compiled.
    """

    def __init__(self) -> None:
        self.events = 0  # of all runs of the plan
        self.reasons: dict[int, str] | None = None
        self._milliseconds: float | None = None  # of compiling its loops
        self._begun = threading.Lock()  # for good

    def consider(self, program: core.Program) -> None:
        """Start compiling for the plan's program, once, if its runs have had many events."""
        if self.reasons is not None or self.events < self._worth(program):
            return
        if not self._begun.acquire(blocking=False):
            return
        if not BESIDE_RUNS:
            self._make(program)
            return
        try:
            # not a daemon: a process does not end while LLVM works
            threading.Thread(target=self._make, args=(program,), name="machine code of loops", daemon=False).start()
        except RuntimeError:  # the process is ending, or cannot create more threads
            self.reasons = {}

    def _worth(self, program: core.Program) -> float:
        if HOT_EVENTS is not None:
            return HOT_EVENTS
        least = LOOP * PATIENCE * EVENTS_OF_A_MILLISECOND
        if self.events < least:
            return least
        if self._milliseconds is None:
            self._milliseconds = milliseconds_of(program)
        return events_before(self._milliseconds)

    def _make(self, program: core.Program) -> None:
        self.reasons = compile_loops(program)


def milliseconds_of(program: core.Program) -> float:
    """The milliseconds that LLVM takes for the loops of a program, estimated from their size; 0 if none is suitable."""
    found = 0.0
    for head, back in core.innermost_loops(program):
        if back - head <= MOST_INSTRUCTIONS:
            instructions = core.loop_instructions(program, head, back)
            with suppress(UnsuitableLoop):
                ops = LoopSurvey(instructions, core.native_context(program, instructions[-1]["frame"])).ops.values()
                found += LOOP + INSTRUCTION * len(ops) + CHECKED * sum(op is not None and op.checked for op in ops)
    return found


def events_before(milliseconds: float) -> float:
    """Number of events of a plan's runs after which compiling (and loading LLVM if necessary) is worthwhile."""
    return PATIENCE * EVENTS_OF_A_MILLISECOND * (milliseconds + (0 if _library else LOADING))


def compile_loops(program: core.Program) -> dict[int, str]:
    """Compile the innermost loops of numbers of a program. Returns head of a loop -> "" or the reason why not."""
    found: dict[int, str] = {}
    for head, back in core.innermost_loops(program):
        found[head] = _compile_loop(program, head, back)
    return found


def _compile_loop(program: core.Program, head: int, back: int) -> str:
    if back - head > MOST_INSTRUCTIONS:
        return f"it has more than {MOST_INSTRUCTIONS} instructions"
    instructions = core.loop_instructions(program, head, back)
    name = f"workbench_loop_{next(_numbers)}"
    try:
        code = LoopCode(instructions, core.native_context(program, instructions[-1]["frame"]), core.native_fields())
        text = code.function(name, core.native_loop_call())
    except UnsuitableLoop as reason:
        return str(reason)
    with _lock:
        llvm = _llvm()
        if llvm is None:
            return _reason
        try:
            address, owner = _compiled(llvm, text, name)
        except RuntimeError as refused:
            return f"LLVM refuses it: {refused}"
    core.adopt_native(program, head, back, address, owner)
    return ""
