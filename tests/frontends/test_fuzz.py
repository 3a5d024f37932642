"""Any bytes give a graph or a WorkbenchError, in bounded time."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.frontends.protobytes import const, data, float32, integer, key, node, tensor, varint
from tests.frontends.test_tensorflow import LOOP
from workbench.errors import WorkbenchError
from workbench.frontends import from_graphdef, load

FEW = settings(max_examples=150, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])


def survives(call, *args) -> None:
    try:
        call(*args)
    except WorkbenchError as error:
        assert error.slug and str(error)


def damaged(raw: bytes):
    """The bytes with some parts overwritten, removed or truncated."""
    places = st.lists(st.tuples(st.integers(0, len(raw) - 1), st.binary(max_size=3)), max_size=4)

    def apply(edits, end):
        out = bytearray(raw)
        for at, new in edits:
            out[at : at + max(1, len(new))] = new
        return bytes(out[:end])

    return st.builds(apply, places, st.one_of(st.none(), st.integers(0, len(raw))))


fields = st.recursive(
    st.one_of(
        st.builds(integer, st.integers(1, 20), st.integers(-(2**63), 2**64 - 1)),
        st.builds(float32, st.integers(1, 20), st.floats(width=32)),
        st.builds(
            data, st.integers(1, 20), st.one_of(st.binary(max_size=8), st.sampled_from([b"Const", b"a", b"value"]))
        ),
        st.builds(lambda n, w: key(n, w) + varint(2**40), st.integers(0, 20), st.integers(0, 7)),
    ),
    lambda inner: st.builds(lambda n, parts: data(n, b"".join(parts)), st.integers(1, 11), st.lists(inner, max_size=4)),
    max_leaves=20,
)
messages = st.lists(fields, max_size=5).map(b"".join)
tensors = st.builds(
    lambda dtype, dims, parts: tensor(dtype, tuple(dims), *parts),
    st.integers(0, 30),
    st.lists(st.integers(-2, 2**40), max_size=3),
    st.lists(fields, max_size=3),
)


@FEW
@given(st.one_of(st.binary(max_size=200), messages))
def test_any_bytes_as_graphdef(raw):
    survives(from_graphdef, raw)


@FEW
@given(damaged(LOOP))
def test_damaged_graphdefs(raw):
    survives(from_graphdef, raw)


@FEW
@given(tensors)
def test_any_constant(raw):
    survives(from_graphdef, const("c", raw))


@FEW
@given(st.sampled_from(["Sum", "Split", "StridedSlice", "Cast", "Enter", "Pack", "Squeeze", "Range", "Fill"]), messages)
def test_any_attributes(op, raw):
    body = const("a", tensor(3, (2,), integer(7, 3)))
    survives(from_graphdef, body + node("n", op, "a", "a", axis=raw, N=raw, num_split=raw, squeeze_dims=raw, DstT=raw))


@FEW
@given(st.one_of(st.binary(max_size=200), messages, damaged(LOOP)))
def test_any_file(tmp_path, raw):
    path = tmp_path / "file"
    path.write_bytes(raw)
    survives(load, path)


@pytest.fixture(scope="module")
def onnx_model() -> bytes:
    from tests.frontends.models import CASES, model

    return model(CASES["branches in a loop"][0]).SerializeToString()


@FEW
@given(choice=st.data())
def test_damaged_onnx_models(tmp_path, onnx_model, choice):
    path = tmp_path / "file.onnx"
    path.write_bytes(choice.draw(damaged(onnx_model)))
    survives(load, path)
