"""Calls of the ops whose values are TensorArrays, TensorLists and stacks, and of the ragged, sparse and text ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench import ops

X = np.arange(12, dtype=np.float32).reshape(4, 3)


def i32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def one(value: Any, dtype: Any = np.int32) -> np.ndarray:
    return np.array(value, dtype)


def call(op: str, /, *inputs: Any, **attrs: Any) -> Any:
    """The single result of an op, or all results."""
    results = ops.lookup(op).evaluate(list(inputs), attrs)
    return results[0] if len(results) == 1 else results


#: strings, of which one is empty and one is not ASCII
TEXTS = np.array([b" Ab", b"", "\u00dc".encode()], object)

#: ops on arrays only
PLAIN: dict[str, list] = {
    "to_bool": [((one(0),), {}), ((X,), {}), ((X[:0],), {}), ((np.array(b"", object),), {})],
    "sparse_dense_add": [
        ((np.array([[0, 2], [3, 1], [0, 2]]), X[:3, 1], np.array([4, 3]), X), {}),
        ((np.zeros((0, 1), np.int32), i32(), i32(2), i32(5, 6)), {}),
    ],
    "ragged_range": [
        ((i32(0, 5, 8), i32(3, 5, 2), i32(1, 1, -2)), {}),
        ((one(0.5, np.float32), np.array([2.0, 0.5], np.float32), one(1.0, np.float32)), {"dtype": "int32"}),
    ],
    "broadcast_gradient_args": [((i32(2, 3), i32(3)), {}), ((i32(), i32(4)), {})],
    "string_format": [((X, one(7)), {"template": "a {} b {}", "placeholder": "{}"}), ((), {"template": "x"})],
    "string_lower": [((TEXTS,), {}), ((TEXTS,), {"encoding": "utf-8"})],
    "string_upper": [((TEXTS,), {}), ((TEXTS,), {"encoding": "utf-8"})],
    "string_strip": [((TEXTS,), {}), ((TEXTS[0:0],), {})],
    "string_length": [((TEXTS,), {}), ((TEXTS,), {"unit": "UTF8_CHAR"})],
    "string_join": [((TEXTS, np.array(b"x", object)), {"separator": "-"}), ((TEXTS,), {})],
    "string_to_number": [((np.array([b"1", b"-2"], object),), {}), ((np.array([b"7"], object),), {"dtype": "int64"})],
    "as_string": [((X,), {"precision": 2}), ((i32(1, -2),), {"width": 4}), ((TEXTS,), {})],
    "print_text": [((np.array(b"text", object),), {"end": ""})],
}

HANDLE, FLOW = call("tensor_array", one(4), dtype="float32", name="a")
GROWS, START = call("tensor_array", one(0), dtype="float32", dynamic_size=True, element_shape=(3,), name="g")
FULL = call("tensor_array_scatter", HANDLE, i32(0, 1, 2, 3), X, FLOW)
GRAD, GRADS = call("tensor_array_grad", HANDLE, FULL, source="s")
LIST = call("tensor_list_from_tensor", X, one(-1))
BLANK = call("tensor_list_reserve", i32(3), one(4), dtype="float32")
ANY_SHAPE = one(-1)
TABLE = call("hash_table", np.array([5, -2, 7]), np.array([0.5, 1.5, 2.5], np.float32))
FULL_STACK = call("stack_push", call("stack_new", one(2), dtype="float32"), X)

#: ops on values other than arrays
STATES: dict[str, list] = {
    "tensor_array": [((one(3),), {"dtype": "int32", "name": "t", "element_shape": (2, None)})],
    "tensor_array_write": [
        ((HANDLE, one(1), X[0], FLOW), {}),
        ((GROWS, one(7), X[0], START), {}),
        ((GRAD, one(1), X[0], GRADS), {}),
    ],
    "tensor_array_read": [
        ((HANDLE, one(2), FULL), {"dtype": "float32", "shape": (3,)}),
        ((GRAD, one(2), GRADS), {"dtype": "float32"}),
    ],
    "tensor_array_gather": [
        ((HANDLE, i32(3, 0), FULL), {"dtype": "float32", "shape": (None, 3)}),
        ((GROWS, i32(), START), {"dtype": "float32"}),
    ],
    "tensor_array_scatter": [((HANDLE, i32(2, 0), X[:2], FLOW), {})],
    "tensor_array_concat": [((HANDLE, FULL), {"dtype": "float32"})],
    "tensor_array_split": [((HANDLE, X, np.array([1, 0, 2, 1]), FLOW), {})],
    "tensor_array_size": [((HANDLE, FULL), {})],
    "tensor_array_close": [((HANDLE,), {})],
    "tensor_array_grad": [((HANDLE, FULL), {"source": "s"}), ((HANDLE, FULL, i32(2)), {})],
    "tensor_array_flow": [((one(0.0, np.float32),), {}), ((FLOW,), {})],
    "tensor_array_join": [((GRADS, call("tensor_array_flow", one(0.0))), {})],
    "tensor_list_empty": [((i32(3), one(2)), {"dtype": "float32"})],
    "tensor_list_reserve": [((ANY_SHAPE, one(2)), {"dtype": "float32"})],
    "tensor_list_from_tensor": [((X, i32(3)), {})],
    "tensor_list_push_back": [((LIST, X[1]), {})],
    "tensor_list_pop_back": [((LIST, ANY_SHAPE), {"dtype": "float32", "shape": (3,)}), ((BLANK, ANY_SHAPE), {})],
    "tensor_list_get_item": [((LIST, one(1), ANY_SHAPE), {"dtype": "float32"})],
    "tensor_list_set_item": [((LIST, one(1), X[3]), {}), ((LIST, one(9), X[3]), {"resize": True})],
    "tensor_list_stack": [((LIST, i32(3)), {"dtype": "float32", "shape": (None, 3), "num_elements": 4})],
    "tensor_list_gather": [((LIST, i32(3, 3), ANY_SHAPE), {"dtype": "float32"})],
    "tensor_list_scatter": [((X, i32(1, 3, 2, 0), i32(3)), {}), ((X[:2], i32(1, 3), i32(3), one(6)), {})],
    "tensor_list_scatter_into": [((LIST, X[:2], i32(1, 5)), {})],
    "tensor_list_length": [((LIST,), {})],
    "tensor_list_resize": [((LIST, one(2)), {}), ((LIST, one(7)), {})],
    "tensor_list_concat": [
        ((LIST,), {"dtype": "float32", "element_shape": (None,)}),
        ((BLANK, i32(-1), np.array([3, 3, 3, 3])), {"dtype": "float32", "shape": (None,)}),
    ],
    "tensor_list_split": [((X, i32(-1, 3), np.array([3, 1])), {})],
    "tensor_list_element_shape": [((BLANK,), {"dtype": "int32"}), ((LIST,), {})],
    "tensor_list_concat_lists": [((LIST, LIST), {"dtype": "float32"})],
    "tensor_list_push_back_batch": [((np.array([LIST, BLANK], object), X[:2]), {})],
    "tensor_list_zeros_like": [((LIST,), {})],
    "tensor_list_add": [((LIST, LIST, BLANK), {})],
    "option_none": [((), {})],
    "option_of": [((X, one(1)), {})],
    "option_has_value": [((call("option_none"),), {}), ((call("option_of", X),), {})],
    "option_get": [((call("option_of", X, one(1)),), {"dtypes": ("float32", "int32"), "shapes": ((4, None), None)})],
    "hash_table": [
        ((np.array([5, -2, 7]), X[0]), {"key_dtype": "int64", "value_dtype": "float32"}),
        ((i32(1, 1, 2), i32(4, 5, 6)), {"replaces": True}),
        ((i32(), i32()), {}),
    ],
    "table_find": [((TABLE, np.array([[7, 8], [-2, 5]]), one(-1.0, np.float32)), {})],
    "table_size": [((TABLE,), {})],
    "table_export": [((TABLE,), {"key_dtype": "int64", "value_dtype": "float32"})],
    "stack_new": [((one(3),), {"dtype": "float32"}), ((), {})],
    "stack_push": [((FULL_STACK, X[0]), {})],
    "stack_pop": [((FULL_STACK,), {"dtype": "float32"})],
}
