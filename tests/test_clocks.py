"""No test is bounded by a clock: on a busy or slow machine it would fail although nothing is wrong. What a call costs
is bounded by counts (``tests/work.py``), and measured by benchmarks."""

from __future__ import annotations

import ast
from pathlib import Path

HERE = Path(__file__).parent
CLOCKS = set("time monotonic perf_counter process_time thread_time perf_counter_ns monotonic_ns time_ns".split())
#: Tests that are older than this rule: bounds on the processor time of what once took minutes or gigabytes, and rates
#: of updates, whose unit is the second. The list only gets shorter.
BEFORE = frozenset(
    {
        "analysis/proof/test_regressions.py: test_a_value_that_is_read_again_and_again_is_looked_at_once",
        "analysis/proof/test_regressions.py: test_an_inner_loop_that_hangs_does_not_hang_the_question",
        "analysis/report/test_report.py: test_a_running_session_is_analyzed_without_stopping_it",
        "analysis/report/test_report.py: test_thousands_of_variables_are_classified_on_demand",
        "analysis/termination/test_proof_cache.py: test_a_live_view_takes_its_share_and_no_more",
        "analysis/termination/test_proof_cache.py: test_a_proof_is_kept_and_counts_down",
        "debugger/test_hostile.py: test_breakpoints",
        "debugger/test_hostile.py: test_conditions",
        "execution/test_reach.py: __call__",
        "execution/test_reach.py: test_going_back_in_a_loop_of_numbers",
        "execution/test_reach.py: test_going_forwards_to_an_iteration",
        "frontends/test_collect.py: test_appending_costs_the_same_at_any_length",
        "frontends/test_functions.py: test_faults",
        "frontends/test_onnx_contrib.py: test_loading_asks_once_for_equal_nodes_and_makes_no_session_that_stays",
        "frontends/test_onnx_functions.py: test_functions_that_would_fill_the_memory_are_refused_before_they_do",
        "frontends/test_textproto.py: test_long_tokens_take_no_time",
        "frontends/test_wire.py: test_a_huge_claim_costs_nothing",
        "recorder/test_hostile_reports.py: test_a_failed_accept_is_counted_and_tried_again",
        "trace/spill/test_memory.py: test_hundreds_of_megabytes_with_a_budget_of_32",
        "trace/test_tail_reader.py: test_reading_does_not_number_all_rows",
        "widgets/test_frame_timeline.py: test_a_long_run_stays_within_its_bars",
        "widgets/test_inspector_model.py: test_huge_arrays_are_bounded",
        "widgets/test_layout.py: test_two_thousand_nodes_take_less_than_a_second_of_this_process",
        "widgets/test_shapetrie_view.py: test_a_huge_trie_is_summarised",
        "widgets/test_value_inspector.py: test_a_long_history_is_thinned",
    }
)


def _reads_clock(part: ast.AST) -> bool:
    """True for ``time.perf_counter()`` and the like anywhere in it."""
    calls = [ast.unparse(call.func) for call in ast.walk(part) if isinstance(call, ast.Call)]
    return any(name in CLOCKS - {"time"} or name.removeprefix("time.") in CLOCKS and "." in name for name in calls)


def _names(part: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(part) if isinstance(n, ast.Name)}


def clocked(text: str) -> list[str]:
    """Names of the functions in a module that assert a bound on what they read from a clock."""
    found = []
    tree = ast.parse(text)
    functions = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef)]
    # functions that give times, and then those that call them
    timed: set[str] = set()
    tainted: dict[str, set[str]] = {}
    for _ in range(3):
        for function in functions:
            names = tainted.setdefault(function.name, set())
            for _ in range(3):
                for part in ast.walk(function):
                    if isinstance(part, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and part.value:
                        targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                        if _reads_clock(part.value) or _names(part.value) & (names | timed):
                            names |= {n for t in targets if isinstance(t, ast.Name | ast.Tuple) for n in _names(t)}
                    elif (
                        isinstance(part, ast.Call)
                        and isinstance(part.func, ast.Attribute)
                        and part.func.attr == "append"
                    ):
                        if any(_reads_clock(a) or _names(a) & names for a in part.args):
                            names |= _names(part.func.value)
            returned = [r.value for r in ast.walk(function) if isinstance(r, ast.Return) and r.value is not None]
            if not function.name.startswith("test_") and any(_reads_clock(r) or _names(r) & names for r in returned):
                timed.add(function.name)
    for function in functions:
        names = tainted[function.name] | timed
        for part in ast.walk(function):
            if isinstance(part, ast.Assert) and any(
                isinstance(c, ast.Compare)
                and any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in c.ops)
                and (_reads_clock(c) or _names(c) & names)
                for c in ast.walk(part.test)
            ):
                found.append(function.name)
                break
    return found


def test_no_test_is_bounded_by_a_clock() -> None:
    found = set()
    for path in sorted(HERE.rglob("test_*.py")):
        where = path.relative_to(HERE)
        if where.parts[0] not in ("benchmarks", "browser"):  # benches, and pages that wait for a browser
            found |= {f"{where}: {name}" for name in clocked(path.read_text(encoding="utf-8"))}
    assert sorted(found - BEFORE) == []
    assert sorted(BEFORE - found) == [], "these are not bounded by a clock any more: take them off the list"


def test_a_test_that_is_bounded_by_a_clock_is_found() -> None:
    text = """
import time
def seconds(call):
    begin = time.process_time()
    call()
    return time.process_time() - begin
def test_by_itself():
    begin = time.perf_counter()
    assert time.perf_counter() - begin < 5
def test_by_a_list():
    took = []
    took.append(time.monotonic())
    assert sorted(took)[0] < 1
def test_by_a_helper():
    best = min(seconds(print) for _ in range(3))
    assert best < 0.2
def test_of_a_count():
    calls = 3
    begin = time.monotonic()
    while time.monotonic() - begin < 1.0:
        calls += 1
    assert len([calls]) < 5
"""
    assert clocked(text) == ["test_by_itself", "test_by_a_list", "test_by_a_helper"]
