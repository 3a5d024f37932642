"""The text form: equal after reading back, one fingerprint, and hostile text refused with one clear error."""

from __future__ import annotations

import base64
import json
import math
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import workbench as wb
from tests.ir.programs import count, growing, nested, vectors
from tests.ir.test_frames import raw_loop
from tests.plan.random_graphs import Maker
from workbench.errors import LoadError, WorkbenchError
from workbench.ir import Graph, Node, Ref, Source, TensorType
from workbench.ir.node import FrozenAttrs

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
TEXT = st.text(st.characters(exclude_categories=()), min_size=1, max_size=8)  # surrogates and line separators included
NUMBERS = st.one_of(st.integers(-(2**80), 2**80), st.floats(), st.booleans(), st.none(), TEXT, st.binary(max_size=8))
TYPES = st.builds(
    TensorType,
    st.sampled_from(["float32", "any"]),
    st.none() | st.tuples(st.none() | st.integers(0, 9), st.integers(0, 9)),
)
ATTRS = st.dictionaries(
    TEXT.map(lambda t: "_" + t),
    st.recursive(NUMBERS | TYPES, lambda v: st.lists(v, max_size=3).map(tuple), max_leaves=6),
    max_size=4,
)
ARRAYS = st.one_of(
    hnp.arrays(
        st.sampled_from(["bool", "int8", "uint64", "float16", "float32", "float64", "complex64", "complex128"]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6),
    ),
    hnp.arrays(np.uint16, st.integers(0, 80)).map(lambda a: a.view(ml_dtypes.bfloat16)),
    st.lists(TEXT | st.binary(max_size=4), max_size=4).map(lambda v: np.array([*v, None], object)[:-1]),
)


def identical(a: Graph, b: Graph) -> None:
    """Everything equal, not only the fingerprint."""
    assert a == b and a.text() == b.text() and a.fingerprint == b.fingerprint and hash(a) == hash(b)
    assert list(a.nodes) == list(b.nodes) and dict(a.inputs) == dict(b.inputs)
    assert list(a.outputs.items()) == list(b.outputs.items()) and list(a.names.items()) == list(b.names.items())
    for one, two in zip(a.nodes.values(), b.nodes.values(), strict=True):
        assert one == two and one.source == two.source
    assert dict(a.frames) == dict(b.frames)


@pytest.mark.parametrize("make", [count, nested, growing, vectors, raw_loop])
def test_round_trip_of_programs(make):
    identical(make(), wb.parse(make().text()))


@QUICK
@given(st.integers(0, 1 << 32))
def test_round_trip_of_random_programs(seed):
    graph, feeds = Maker(seed).make()
    back = wb.parse(graph.text())
    identical(graph, back)


@QUICK
@given(
    name=TEXT,
    attrs=ATTRS,
    array=ARRAYS,
    region=st.none() | TEXT,
    source=st.builds(Source, TEXT, st.integers(0, 9**9), TEXT),
)
def test_round_trip_of_odd_names_and_values(name, attrs, array, region, source):
    const = Node(name, "Const", attrs=FrozenAttrs({**attrs, "value": array}), source=source, region=region)
    other = Node(name + "2", "Identity", (Ref(name),), (name,))
    graph = Graph.from_nodes(
        name, [const, other], inputs={}, outputs={name: Ref(name + "2")}, names={name + "3": Ref(name)}
    )
    back = wb.parse(graph.text())
    identical(graph, back)
    value = back.nodes[name].attrs["value"]
    assert value.dtype == array.dtype and value.shape == array.shape
    assert value.tolist() == array.tolist() if array.dtype == object else value.tobytes() == array.tobytes()


@pytest.mark.parametrize("value", [-0.0, math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, 0.1])
def test_floats_keep_every_bit(value):
    b = wb.GraphBuilder()
    graph = b.build({"y": b.op("Identity", b.constant(np.full(3, value)), _note=value)})
    back = wb.parse(graph.text())
    note = back.nodes["Identity"].attrs["_note"]
    assert np.float64(note).tobytes() == np.float64(value).tobytes()
    assert back.nodes["Const"].attrs["value"].tobytes() == np.full(3, value).tobytes()


def test_a_big_array_is_written_as_base64():
    array = np.random.default_rng(0).normal(size=(300, 400))
    b = wb.GraphBuilder()
    graph = b.build({"c": b.constant(array)})
    text = graph.text()
    assert len(text) < 1.4 * array.nbytes
    np.testing.assert_array_equal(wb.parse(text).run()["c"], array)


def test_the_fingerprint_ignores_source_lines_and_nothing_else():
    one, two = count(), count()
    assert one is not two and one == two and len({one, two}) == 1
    without = Graph.from_nodes(
        one.name,
        [replace(n, source=None) for n in one.nodes.values()],
        inputs=one.inputs,
        outputs=one.outputs,
        names=one.names,
    )
    assert without.fingerprint == one.fingerprint and without.text() != one.text()
    assert count(6.0) != one and count(5.0, 2.0) != one
    assert len({count().fingerprint, nested().fingerprint, vectors().fingerprint}) == 3


def test_the_text_form_is_stable():
    """Saved graphs must be readable for ever: this text is version 1."""
    text = "\n".join(
        [
            'graph "g" version 1',
            'node "a" = Placeholder() {"dtype": "float64", "shape": [null, 2]} at "file.py" 3 "a = 1"',
            'node "c" = Const() ^"a" {"value": {"array": "float64", "shape": [2], "data": [0.5, -0.0]}} in "region"',
            'node "y" = add("a:0", "c:0")',
            'input "a" = "a:0"',
            'output "out" = "y:0"',
            'name "sum" = "y:0"',
            "",
        ]
    )
    graph = wb.parse(text)
    assert graph.text() == text
    assert str(graph.nodes["a"].source) == "file.py:3 `a = 1`" and graph.nodes["c"].region == "region"
    assert graph.run(a=np.ones((1, 2)))["out"].tolist() == [[1.5, 1.0]]


HEAD = 'graph "g" version 1\n'


def const(value: str) -> str:
    return f'{HEAD}node "c" = Const() {{"value": {value}}}\noutput "c" = "c:0"\n'


def array(dtype='"int8"', shape="[1]", data="[1]") -> str:
    return const(f'{{"array": {dtype}, "shape": {shape}, "data": {data}}}')


HOSTILE = [
    ("", "not-a-graph", "begin with"),
    ("\0\0\0", "not-a-graph", "begin with"),
    ("PK\x03\x04", "not-a-graph", "begin with"),
    ('graph "g" version 2\n', "bad-graph-text", "version 2"),
    ('graph "g" version true\n', "bad-graph-text", "version True"),
    ('graph "g" version "1"\n', "bad-graph-text", "version 1"),
    ('graph "g"', "bad-graph-text", "Line 1"),
    ("graph 5 version 1", "bad-graph-text", "Line 1"),
    (HEAD + 'graph "h" version 1\n', "bad-graph-text", "second graph"),
    (HEAD, "no-outputs", "no outputs"),
    (HEAD + "nodule", "bad-graph-text", "'nodule'"),
    (HEAD + 'node "a" = add("b:0"', "bad-graph-text", "Line 2"),
    (HEAD + 'node "a" = add(b)', "bad-graph-text", "Line 2"),
    (HEAD + 'node "a" = add("b")', "bad-graph-text", "'b' is not a value"),
    (HEAD + 'node "a" = add("b:-1")', "bad-graph-text", "'b:-1' is not a value"),
    (HEAD + 'node "a" = add("b:²")', "bad-graph-text", "Line 2"),
    (HEAD + 'node "a" = add("b:' + "9" * 5000 + '")', "bad-graph-text", "Line 2"),
    (HEAD + 'node "a" = NoOp() rest', "bad-graph-text", "unexpected"),
    (HEAD + 'node "a" = NoOp() {"_k": {"unknown": 1}}', "bad-graph-text", "unknown"),
    (HEAD + 'node "a" = NoOp() {"_k": ', "bad-graph-text", "Line 2"),
    (HEAD + 'node "a" = NoOp() at "f" "g" "h"', "bad-graph-text", "Line 2"),
    (HEAD + 'node "a" = NoOp() at "f" 1e999 "h"', "bad-graph-text", "Line 2"),
    (HEAD + 'node "a" = __import__()\noutput "a" = "a:0"', "unknown-op", "__import__"),
    (HEAD + 'input "a" = "a:0"\ninput "a" = "b:0"', "bad-graph-text", "two inputs named 'a'"),
    (HEAD + 'output "a" = "a:0"', "no-such-node", "'a'"),
    (const("[" * 100_000), "bad-graph-text", "recursion"),
    (const("[" * 900 + "]" * 900), "bad-graph-text", "recursion"),
    (const('{"a":' * 5000 + "1" + "}" * 5000), "bad-graph-text", "Line 2"),
    (const("1" * 10_000), "bad-graph-text", "Line 2"),
    (const("3"), "wrong-attr", "Const"),
    (const('{"float": "0x1p99999"}'), "bad-graph-text", "Line 2"),
    (const('{"bytes": "***"}'), "bad-graph-text", "Line 2"),
    (const('{"type": "float32[2"}'), "bad-graph-text", "float32[2"),
    (array(shape="[1000000, 1000000]"), "bad-graph-text", "(1000000, 1000000)"),
    (array(shape="[268435456]"), "bad-graph-text", "1 elements"),
    (array(shape="[-1]", data="[]"), "bad-graph-text", "(-1,)"),
    (array(shape="[1e400]"), "bad-graph-text", "Line 2"),
    (array(shape="5"), "bad-graph-text", "Line 2"),
    (array(shape="[0, 99999999999999999999999]", data="[]"), "bad-graph-text", "Line 2"),
    (array(data="[300]"), "bad-graph-text", "300"),
    (array(data="[1, 2]"), "bad-graph-text", "2 elements"),
    (array(data='["1"]'), "bad-graph-text", "another kind"),
    (array(data="[[1]]"), "bad-graph-text", "another kind"),
    (array(dtype='"string"', data="[1]"), "bad-graph-text", "another kind"),
    (array(dtype='"object"'), "bad-graph-text", "'object'"),
    (array(dtype='"float32,int8"'), "bad-graph-text", "'float32,int8'"),
    (array(dtype='"V9999999999"'), "bad-graph-text", "V9999999999"),
    (array(dtype='[["a", "O"]]'), "bad-graph-text", "Line 2"),
    (const('{"array": "string", "shape": [1], "base64": "AAAA"}'), "bad-graph-text", "base64"),
    (const('{"array": "int32", "shape": [2], "base64": "AAAA"}'), "bad-graph-text", "3 bytes"),
    (const('{"array": "int8", "shape": [1]}'), "bad-graph-text", "data"),
]


@pytest.mark.parametrize(("text", "slug", "word"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text(text, slug, word):
    with pytest.raises(WorkbenchError) as caught:
        wb.parse(text)
    assert caught.value.slug == slug and word in str(caught.value), str(caught.value)
    assert len(str(caught.value)) < 1000
    assert slug not in ("not-a-graph", "bad-graph-text") or isinstance(caught.value, LoadError)


@QUICK
@given(data=st.data())
def test_damaged_text_never_breaks_anything_else(data):
    """Cut, doubled, changed: either it still reads, or there is a WorkbenchError."""
    text = data.draw(st.sampled_from([count(), nested(1), raw_loop()])).text()
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.integers(0, len(text) - 1))
    low, high = sorted((at, other))
    piece = data.draw(
        st.sampled_from(['"', "{", "}", "[", "0", "null", "\n", ":", " ", "^", '"x"', "true", text[low:high]])
    )
    changed = data.draw(
        st.sampled_from(
            [text[:at], text[:low] + text[high:], text[:at] + piece + text[at:], text[:at] + piece + text[at + 1 :]]
        )
    )
    try:
        graph = wb.parse(changed)
    except WorkbenchError as error:
        assert error.slug != "workbench-error"
    else:
        identical(graph, wb.parse(graph.text()))


def test_nothing_in_the_text_is_pickle_or_code():
    b = wb.GraphBuilder()
    graph = b.build({"c": b.constant(np.arange(1000.0))})
    line = next(part for part in graph.text().splitlines() if part.startswith("node"))
    value = json.loads(line.partition("() ")[2].partition(" at ")[0])["value"]
    assert set(value) == {"array", "shape", "base64"}
    assert base64.b64decode(value["base64"]) == np.arange(1000.0).tobytes()
