"""Constructs that cannot be captured: each raises an error that names the line and a replacement."""

import asyncio
import functools
import inspect

import numpy as np
import pytest

import workbench as wb
from tests.frontends.python.bad_programs import CASES


@pytest.mark.parametrize(("function", "slug", "arguments"), CASES, ids=[f.__name__ for f, _, _ in CASES])
def test_construct(function, slug, arguments):
    with pytest.raises(wb.CaptureError) as caught:
        wb.graph(function).graph_for(*arguments)
    error = caught.value
    assert error.slug == slug, str(error)
    lines, first = inspect.getsourcelines(function)
    marked = next(first + k for k, line in enumerate(lines) if "<-" in line)
    assert error.source.file == inspect.getsourcefile(function)
    assert error.source.line == marked, (str(error), marked)
    assert error.source.expression
    assert error.construct


@pytest.mark.parametrize(("function", "slug", "arguments"), CASES, ids=[f.__name__ for f, _, _ in CASES])
def test_hint(function, slug, arguments):
    with pytest.raises(wb.CaptureError) as caught:
        wb.graph(function).graph_for(*arguments)
    plain = "array-truth bad-call wrong-dtype unknown-name not-a-sequence index-range python-error unknown-attribute"
    if slug not in (*plain.split(), "wrong-operand"):
        assert caught.value.fix, str(caught.value)


def test_both_lines_of_a_conflict_are_named():
    def f(x):
        y = None
        if x > 1:
            y = x
        return y + 1

    first = f.__code__.co_firstlineno
    with pytest.raises(wb.CaptureError, match=f"line {first + 3}.*line {first + 1}"):
        wb.graph(f).graph_for(2.0)


def test_the_path_that_does_not_set_it_is_named():
    def f(x):
        if x > 1:
            y = x
        return y

    with pytest.raises(wb.CaptureError, match=f"line {f.__code__.co_firstlineno + 1} is false"):
        wb.graph(f).graph_for(2.0)


@pytest.mark.parametrize(
    ("thing", "slug"),
    [
        (len, "not-a-function"),
        (np.sum, "not-a-function"),
        (int, "not-a-function"),
        (3, "not-a-function"),
        (functools.partial(print), "not-a-function"),
        (staticmethod(print), "not-a-function"),
        (asyncio.sleep, "unsupported-async"),
        (inspect.walktree, None),
    ],
)
def test_no_plain_function(thing, slug):
    if slug is None:
        assert isinstance(wb.graph(thing), wb.GraphFunction)
        return
    with pytest.raises(wb.CaptureError) as caught:
        wb.graph(thing)
    assert caught.value.slug == slug and caught.value.fix


def test_generator():
    def numbers(n):
        yield n

    with pytest.raises(wb.CaptureError) as caught:
        wb.graph(numbers)
    assert caught.value.slug == "unsupported-yield"
    assert caught.value.source.line == numbers.__code__.co_firstlineno


def test_no_source():
    namespace = {}
    exec("def f(x):\n    return x + 1\n", namespace)  # noqa: S102  a function without a file
    with pytest.raises(wb.CaptureError) as caught:
        wb.graph(namespace["f"])(1.0)
    assert caught.value.slug == "no-source"


def test_wrong_arguments_are_python_errors():
    f = wb.graph(lambda x: x + 1)
    with pytest.raises(TypeError):
        f()
    with pytest.raises(TypeError):
        f(1.0, y=2)


def test_lambdas():
    double = wb.graph(lambda x: x * 2)
    assert double(3) == 6
    pair = [wb.graph(lambda x: x + 1), wb.graph(lambda y: y + 2)]
    assert [f(1) for f in pair] == [2, 3]
    same = [wb.graph(lambda x: x + 1), wb.graph(lambda x: x + 2)]
    with pytest.raises(wb.CaptureError, match="2 lambdas"):
        same[0](1)


def test_assertions_fail_when_the_graph_runs():
    @wb.graph
    def checked(n):
        for i in range(n):
            assert i < 3, "i is small"
        return n

    assert checked(3) == 3
    with pytest.raises(wb.WorkbenchError, match="i is small") as caught:
        checked(5)
    assert "assert i < 3" in str(caught.value)


def test_an_error_at_run_time_names_the_line():
    @wb.graph
    def divide(a, b):
        c = a + b
        return a / c

    assert divide(1.0, 1.0) == 0.5
    with pytest.raises(wb.WorkbenchError) as caught:
        divide(1.0, -1.0)
    assert caught.value.source.expression == "a / c"
    assert caught.value.source.line == divide.captured_function.__code__.co_firstlineno + 3


def test_a_result_that_is_none():
    with pytest.raises(wb.CaptureError) as caught:
        wb.graph(lambda n: range(n))(3)
    assert caught.value.slug == "bad-result"


def test_too_many_arguments():
    def first(xs):
        return xs[0]

    assert wb.graph(first)([1.0] * 10) == 1.0
    with pytest.raises(wb.CaptureError) as caught:
        wb.graph(first)([1.0] * 10_001)
    assert caught.value.slug == "too-many-arguments"


def test_too_deep_and_too_large(tmp_path, monkeypatch):
    import importlib.util

    from workbench.frontends.python import engine

    def function(body):
        path = tmp_path / f"module{len(list(tmp_path.iterdir()))}.py"
        path.write_text(f"def f(x):\n{body}    return x\n", encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return wb.graph(module.f)

    chain = function("".join(f"    if x == {k}:\n        return {k}\n" for k in range(50)))
    assert [chain(k) for k in (0, 49, 50)] == [0, 49, 50]
    with pytest.raises(wb.CaptureError) as caught:
        function("".join(f"    if x == {k}:\n        return {k}\n" for k in range(900)))(3)
    assert caught.value.slug == "too-deep"
    monkeypatch.setattr(engine, "MAX_NODES", 100)
    with pytest.raises(wb.CaptureError) as caught:
        function("    x = x + 1\n" * 300)(3)
    assert caught.value.slug == "too-large"
