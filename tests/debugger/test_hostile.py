"""Conditions from untrusted sources: each is refused with a slug, a short text and a fix, in bounded time."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import count
from tests.work import Work
from workbench.debugger.conditions.evaluate import Predicate
from workbench.errors import SessionError, WorkbenchError

#: calls of functions that any of it may make, by far more than it does
SOON = 100_000
HUGE = 10**5000


class Stubborn:
    """Cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__


ESCAPES = [
    "value.__class__.__mro__[1].__subclasses__()",
    "().__class__.__bases__",
    "__builtins__",
    "__import__('os')",
    "getattr(value, 'x')",
    "value['__class__']",
    "value[value]",
    "value[None]",
    "value[[0]]",
    "True.real",
    "lambda: 1",
    "[x for x in value]",
    "{value}",
    "`value`",
    "$(id)",
    "value!r > 1",
    "f'{value}' == dtype",
    "value;1",
    "value > 1 # c",
    "value := 3",
    "eval('1')",
    "value if value else value",
]
NESTED = [
    "(" * 200 + ")" * 200,
    "(" * 30 + "value > 1" + ")" * 30,
    "abs(" * 30 + "value" + ")" * 30 + " > 1",
    "-" * 30 + "value > 1",
    "not " * 30 + "value > 1",
]
POWERS = [
    "value ** 64 ** 64 > 1",
    "value ** -64 ** -64 > 1",
    "2 ** 64 ** 64 ** 64 > value",
    "value ** 65 > 1",
    "value ** value > 1",
    "value ** " + "9" * 400 + " > 1",
]
LONG = [
    "value > 1" + " " * 10**7,
    "value > 1 and " * 10**6,
    "shape == (" + "1, " * 100 + ")",
    "1 < 2 " * 80,
    "dtype == '" + "a" * 10**7 + "'",
    "value > " + "9" * 10**7,
]
LOOKALIKES = [
    "v\u0430lue > 1",
    "\uff56\uff41\uff4c\uff55\uff45 > 1",
    "value > \uff11",
    "value > \u0663",
    "value[\u0663] > 1",
    "value > \xb2",
    "value \u2265 1",
    "value \uff1e 1",
    "value\xa0> 1",
    "value\u2028> 1",
    "value > 1\u2029",
    "value > 1\u202e",
    "isnan(value)\u200b",
    "\ufeffvalue > 1",
    "\ud800 > 1",
]
NULLS = ["\0", "value\0 > 1", "value > 1\0", "dtype == '\0'", "value('\0') > 1", "value > 1\x1b[31m", "value > 1\x7f"]
NO_TEXTS = [b"value > 1", HUGE, ["value > 1"], float("nan"), None, Stubborn()]


@pytest.mark.parametrize(
    "text",
    [*ESCAPES, *NESTED, *POWERS, *LONG, *LOOKALIKES, *NULLS, *NO_TEXTS],
    ids=lambda t: ascii(t)[:30] if isinstance(t, str | bytes) else type(t).__name__,
)
def test_conditions(text):
    with pytest.raises(SessionError) as caught, Work() as work:
        Predicate(text)
    assert caught.value.slug == "bad-condition" and caught.value.fix and len(str(caught.value)) < 700
    assert work.calls < SOON


VALUES = [
    np.float64(1.5),
    np.arange(6.0).reshape(2, 3),
    np.int64(2**62),
    np.uint8(255),
    np.array(True),
    np.array("t", object),
    np.complex64(1 + 2j),
    np.zeros((0, 3)),
    np.float16(1),
]


@pytest.mark.parametrize(
    "text",
    [
        "value[" + "9" * 30 + "] > 1",
        "value[-" + "9" * 30 + ":] > 1",
        "value[::-" + "9" * 19 + "] > 1",
        "9" * 400 + " > value",
        "1e999999 > value",
        "value[...,...,...] > 1",
        "value[:,:,:,:] > 1",
        "value ** 64 > 1",
        "value ** -64 > 1",
        "size ** 64 > 1",
        "value // 0 > 1",
        "value % 0 == 0",
        "exp(exp(exp(exp(value)))) > 1",
        "*".join(["value"] * 70) + " > 1",
        "std(value[0:0]) > 0",
        "max(value[0:0]) > 0",
        "mean(value[0:0]) > 0",
        "norm(shape) > 1",
        "shape[99] > 1",
        "shape == 1",
        "abs(dtype) > 1",
        "value == 'x'",
        "min(dtype) == 'a'",
        "value[0][0][0][0] > 1",
    ],
)
def test_what_is_well_formed_gives_an_answer_or_a_clear_error(text):
    predicate = Predicate(text)
    for value in VALUES:
        try:
            assert predicate(value, 3, value) in (True, False)
        except SessionError as error:
            assert error.slug == "bad-condition" and error.fix and len(str(error)) < 700


@pytest.mark.parametrize(
    ("options", "slug"),
    [
        ({"hits": 10**30}, "bad-hits"),
        ({"hits": HUGE}, "bad-hits"),
        ({"hits": -HUGE}, "bad-hits"),
        ({"hits": 1.0}, "bad-hits"),
        ({"every": 10**30}, "bad-every"),
        ({"every": Stubborn()}, "bad-every"),
        ({"iteration": 10**30}, "bad-iteration"),
        ({"iteration": (HUGE,)}, "bad-iteration"),
        ({"iteration": 2**63 - 1}, "bad-iteration"),
        ({"iteration": (1,) * 10**6}, "bad-iteration"),
        ({"iteration": Stubborn()}, "bad-iteration"),
        ({"iteration": "3"}, "bad-iteration"),
        ({"where": Stubborn()}, "bad-target"),
        ({"where": b"x"}, "bad-target"),
        ({"where": ["x"]}, "bad-target"),
        ({"where": "\0"}, "unknown-value"),
        ({"where": "x\0"}, "unknown-value"),
        ({"where": "\ud800"}, "unknown-value"),
        ({"where": "x:" + "9" * 30}, "unknown-value"),
        ({"where": "x:-1"}, "unknown-value"),
        ({"where": "x:\u0663"}, "unknown-value"),
        ({"where": "\uff58"}, "unknown-value"),
        ({"where": "*a" * 400}, "unknown-value"),
        ({"where": "[!" * 10**6}, "bad-target"),
        ({"where": "*", "op": "[" * 10**6}, "bad-target"),
        ({"where": "*", "op": 3}, "bad-target"),
        ({"op": Stubborn()}, "bad-target"),
        ({"when": Stubborn()}, "bad-condition"),
        ({"log": Stubborn()}, "bad-log"),
        ({"log": HUGE}, "bad-log"),
        ({"log": "{value:\u0663d}"}, "bad-log"),
        ({"log": "{value.__class__}"}, "bad-log"),
        ({"watch": HUGE}, "bad-watch"),
        ({"watch": Stubborn()}, "bad-watch"),
        ({"health": HUGE}, "bad-health"),
        ({"health": Stubborn()}, "bad-health"),
        ({"health": "n" * 10**7}, "bad-health"),
        ({"health": {"nan": 1}}, "bad-health"),
        ({"frame": Stubborn()}, "bad-frame"),
        ({"frame": 3}, "bad-frame"),
        ({"frame": "/" * 10**6}, "bad-frame"),
        ({"frame": ("while",) * 10**6}, "bad-frame"),
        ({"frame": [HUGE]}, "bad-frame"),
        ({"frame": "\0"}, "bad-frame"),
    ],
    ids=lambda given: given if isinstance(given, str) else next(iter(given)),
)
def test_breakpoints(options, slug):
    with Work() as work, wb.Session(count(6.0), {"start": 0.0}) as session:
        with pytest.raises(WorkbenchError) as caught:
            session.breakpoints.add(**{"where": "x", **options})
        assert caught.value.slug == slug and caught.value.fix and len(str(caught.value)) < 1500
        if set(options) & {"where", "op"}:
            with pytest.raises(WorkbenchError):
                session.breakpoints.ignore(options.get("where", "*"), op=options.get("op", "[" * 10**6))
        assert not len(session.breakpoints) and session.run().reason is wb.StopReason.FINISHED
    items = max(len(given) if isinstance(given, tuple) else 0 for given in options.values())
    assert work.calls < SOON + 3 * items


def test_the_largest_counts_that_are_taken_never_stop():
    with wb.Session(count(6.0), {"start": 0.0}) as session:
        for options in ({"hits": 2**62 - 1}, {"every": 2**62 - 1}, {"iteration": 2**62 - 1}):
            session.breakpoints.add("x", **options)
        assert session.run().reason is wb.StopReason.FINISHED
        assert [p.hits_seen for p in session.breakpoints] == [7, 7, 0]
