"""Functions that cannot be put into a graph, each with the slug of its error; ``# <-`` marks the line that it names."""
# ruff: noqa: B007, E731, F821, F841

from __future__ import annotations

import time
from typing import Any

import numpy as np

CASES: list[tuple[Any, str, tuple[Any, ...]]] = []
TABLE = np.arange(3.0)
NUMBERS = [1, 2, 3]


def bad(slug: str, *arguments: Any) -> Any:
    def note(function: Any) -> Any:
        CASES.append((function, slug, arguments))
        return function

    return note


@bad("unsupported-try", 1.0)
def with_try(x):
    try:  # <-
        return 1 / x
    except ZeroDivisionError:
        return 0.0


@bad("unsupported-raise", 1.0)
def with_raise(x):
    if x < 0:
        raise ValueError("negative")  # <-
    return x


@bad("unsupported-with", 1.0)
def with_with(x):
    with np.errstate(all="ignore"):  # <-
        return x


@bad("unsupported-class", 1.0)
def with_class(x):
    class Point:  # <-
        pass

    return x


@bad("unsupported-del", 1.0)
def with_del(x):
    y = x
    del y  # <-
    return x


@bad("unsupported-global", 1.0)
def with_global(x):
    global COUNT  # <-
    COUNT = x
    return x


@bad("unsupported-nonlocal", 1.0)
def with_nonlocal(x):
    total = x

    def add():
        nonlocal total  # <-
        total = total + 1

    add()
    return total


@bad("unsupported-match", 1.0)
def with_match(x):
    match x:  # <-
        case 1.0:
            return x
    return x


@bad("unsupported-import", 1.0)
def with_import(x):
    import math  # <-

    return math.sin(x)


@bad("unsupported-yield", 1.0)
def with_inner_generator(x):
    def numbers():
        yield x  # <-

    return sum(numbers())


@bad("unsupported-async", 1.0)
def with_inner_async(x):
    async def later():  # <-
        return x

    return x


@bad("unsupported-print", 1.0)
def with_print(x):
    print(x)  # <-
    return x


@bad("computed-text", 1.0)
def with_text(x):
    name = f"x is {x}"  # <-
    return x


@bad("unsupported-set", 1.0)
def with_set(x):
    return {x, 1.0}  # <-


@bad("unsupported-set", 1.0)
def with_set_comprehension(x):
    return {x * k for k in range(3)}  # <-


@bad("recursion", 5)
def with_recursion(n):
    if n < 2:
        return n
    return with_recursion(n - 1) + with_recursion(n - 2)  # <-


@bad("recursion", 5.0)
def with_endless_recursion(x):
    def count(v, k):
        return count(v, k + 1)  # <-

    return count(x, 0)


@bad("argument-mutation", np.arange(3.0))
def changes_an_argument(x):
    x[0] = 1.0  # <-
    return x


@bad("argument-mutation", np.arange(3.0))
def adds_to_an_argument(x):
    x += 1  # <-
    return x


@bad("argument-mutation", np.arange(3.0))
def changes_a_view_of_an_argument(x):
    y = x[1:]
    y[0] = 1.0  # <-
    return y


@bad("argument-mutation", np.arange(4.0))
def changes_a_reshaped_argument(x):
    y = x.reshape(2, 2)
    y[0] = 1.0  # <-
    return y


@bad("argument-mutation", np.arange(3.0), 3)
def changes_an_argument_in_a_loop(x, n):
    y = x
    for i in range(n):
        y[i] = 1.0  # <-
        y = y * 2
    return y


@bad("argument-mutation", [1.0, 2.0])
def changes_a_list(x):
    x.append(3.0)  # <-
    return x


@bad("argument-mutation", {"a": 1.0})
def changes_a_dict(d):
    d["a"] = 2.0  # <-
    return d


@bad("outside-mutation", 1.0)
def changes_a_global(x):
    TABLE[0] = x  # <-
    return x


@bad("list-in-loop", 5)
def appends_in_a_loop(n):
    found = []
    for i in range(n):
        found.append(i * i)  # <-
    return found


@bad("list-in-branch", 5)
def appends_in_a_branch(n):
    found = []
    if n > 3:
        found.append(n)  # <-
    return found


@bad("unbound", 5)
def unbound_after_if(n):
    if n > 3:
        y = n
    return y  # <-


@bad("unbound", 5)
def unbound_after_loop(n):
    for i in range(n):
        y = i
    return y  # <-


@bad("unbound", 5)
def unbound_before(n):
    y = z + n  # <-
    z = 1
    return y


@bad("unbound", 5)
def set_on_break_only(n):
    for i in range(10):
        if i == n:
            found = i
            break
    return found  # <-


@bad("branch-types", 5.0)
def none_or_number(x):
    if x > 1:
        y = None
    else:
        y = x
    return y + 1  # <-


@bad("branch-types", np.float32(1.0), np.float64(2.0))
def two_dtypes(x, y):
    z = x if x > 1 else y  # <-
    return z


@bad("carried-type", 5.0)
def becomes_a_tuple(x):
    y = x
    while x > 0:
        x = x - y  # <-
        y = (x, x)
    return x


@bad("carried-type", np.int64(5), 3)
def changes_its_dtype(x, n):
    for _ in range(n):
        x = x / 2  # <-
    return x


@bad("missing-return", 5.0)
def returns_sometimes(x):
    if x > 1:
        return x
    x = x + 1  # <-


@bad("return-types", 5.0)
def returns_two_kinds(x):
    if x > 1:
        return x
    return x, x  # <-


@bad("unknown-name", 1.0)
def unknown_name(x):
    return x + nowhere  # <-


@bad("unknown-call", 1.0)
def unknown_call(x):
    return x + time.time()  # <-


@bad("unsupported-open", 1.0)
def opens_a_file(x):
    open("file")  # <-
    return x


@bad("unsupported-eval", 1.0)
def evaluates(x):
    return eval("x")  # <-


@bad("bad-call", 1.0)
def misses_an_argument(x):
    def add(a, b):
        return a + b

    return add(x)  # <-


@bad("unpack-count", 1.0)
def unpacks_wrongly(x):
    a, b = x, x, x  # <-
    return a


@bad("endless-loop", 1.0)
def never_ends(x):
    while True:  # <-
        x = x + 1


@bad("not-a-sequence", 5)
def goes_over_a_number(n):
    for i in n:  # <-
        n = i
    return n


@bad("range-number", 5.0)
def counts_with_a_float(x):
    total = 0
    for i in range(x):  # <-
        total += i
    return total


@bad("bad-index", 1)
def picks_a_function(n):
    fs = (abs, abs)
    return (np.arange(2.0), None)[n]  # <-


@bad("computed-filter", 3)
def filters(n):
    return [k for k in range(5) if k < n]  # <-


@bad("unknown-length", 3)
def comprehends(n):
    return [k for k in range(n)]  # <-


@bad("computed-key", 3)
def computed_key(n):
    return {n: 1.0}  # <-


@bad("array-truth", np.arange(3.0))
def truth_of_an_array(x):
    if x > 1:  # <-
        return 1
    return 0


@bad("effect-in-condition", np.arange(3.0))
def changes_in_the_condition(x):
    y = x.copy()

    def bump():
        y[0] += 1
        return y[0]

    while bump() < 5:  # <-
        pass
    return y


@bad("alias", np.arange(3.0), 2)
def may_be_the_same(x, n):
    y = x.copy()
    z = x.copy()
    w = y if n > 1 else z
    w[0] = 5.0
    return y  # <-


@bad("alias", 2)
def may_be_the_same_list(n):
    one = [1.0, 2.0]
    two = [3.0, 4.0]
    three = one if n > 1 else two
    three[0] = 5.0  # <-
    return one, three


@bad("alias", np.arange(3.0))
def goes_over_what_it_changes(x):
    y = x.copy()
    for v in y:  # <-
        y = y[::-1]
        y += v
    return y


@bad("in-place-dtype", np.arange(3))
def in_place_dtype(x):
    y = x.copy()
    y /= 2  # <-
    return y


@bad("in-place-shape", np.arange(3.0))
def in_place_shape(x):
    y = x[:1].copy()
    y += x  # <-
    return y


@bad("out-argument", np.arange(3.0))
def with_out(x):
    y = x.copy()
    np.sqrt(x, out=y)  # <-
    return y


@bad("in-place-call", np.arange(3.0))
def with_copyto(x):
    y = x.copy()
    np.copyto(y, x)  # <-
    return y


@bad("unsupported-decorator", 1.0)
def decorated_inside(x):
    @staticmethod  # <-
    def f(v):
        return v

    return f(x)


@bad("walrus-else", 3)
def walrus_with_else(n):
    while (n := n - 1) > 0:  # <-
        pass
    else:
        n = 7
    return n


@bad("unsupported-attribute-assignment", 1.0)
def sets_an_attribute(x):
    bad.value = x  # <-
    return x


@bad("too-many-items", 1.0)
def unrolls_too_much(x):
    return [x * k for k in range(100000)]  # <-


@bad("wrong-dtype", 1.0)
def wrong_types(x):
    return x + len("a" + 1)  # <-


@bad("assert-message", 1.0)
def computed_message(x):
    assert x > 0, x  # <-
    return x


@bad("computed-position", 1)
def stores_at_a_computed_position(n):
    found = [1.0, 2.0]
    found[n] = 3.0  # <-
    return found


@bad("index-range", 1)
def outside_of_a_tuple(n):
    pair = (n, n)
    return pair[2]  # <-


@bad("item-assignment", 1)
def stores_into_a_tuple(n):
    pair = (n, n)
    pair[0] = 2  # <-
    return pair


@bad("dict-method", 1)
def changes_a_dict_by_method(n):
    table = {"a": n}
    table.update(b=n)  # <-
    return table


@bad("missing-key", 1)
def misses_a_key(n):
    table = {"a": n}
    return table["b"]  # <-


@bad("list-method", 1)
def sorts_a_list(n):
    found = [n, 2]
    found.sort()  # <-
    return found


@bad("in-place-method", np.arange(3.0))
def partitions(x):
    y = x.copy()
    y.partition(1)  # <-
    return y


@bad("python-error", 1)
def steps_by_zero(n):
    for i in range(0, n, 0):  # <-
        n = i
    return n


@bad("unknown-attribute", 1.0)
def unknown_attribute(x):
    return np.no_such_function(x)  # <-


@bad("wrong-operand", 3)
def adds_to_a_range(n):
    return range(n) + 1  # <-


@bad("zip-strict", np.arange(3.0))
def zips_strictly(x):
    total = 0.0
    for a, b in zip(x, x, strict=True):  # <-
        total += a * b
    return total


@bad("alias", 3)
def same_array_at_first(n):
    table = {"b": np.arange(3.0)}
    first = table["b"]
    for i in range(n):
        first[0] += i + 1
        table["b"] = table["b"] + 1  # <-
    return table
