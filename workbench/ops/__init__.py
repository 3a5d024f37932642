"""The op registry: one table entry for each op, and its public interface.

::

    lookup(name, attrs) ──► REGISTRY ◄── define ◄── control_flow  arithmetic  functions  comparison  reduction
             └─ "prefix:Name" ► foreign             scans  linalg  array  joining  creation  indexing  scatter  effects
                                                    special  bands  matrices  decompositions  solving  segments
                                                    counting  partition  representation  random  distributions
                                                    windows: convolution  convolution_gradients  pooling
                                                    pooling_gradients  normalization  recurrent  losses  blocks
                                                    activation_gradients  quantization  images: resize color detection

An entry (:class:`workbench.ir.opspec.OpSpec`) lists the inputs of an op, infers the types of its results, evaluates it
with NumPy and documents it. ``spec.infer(types, attrs, values)`` returns a tuple of types and raises
:class:`workbench.errors.TypeMismatchError` with one of the slugs ``wrong-arity``, ``wrong-dtype``, ``wrong-shape`` and
``wrong-attr``; ``values`` holds the constant inputs, None for the others. ``spec.evaluate(arrays, attrs)`` returns a
tuple of arrays; these may be inputs or views of inputs (values are immutable), so a caller that keeps a result must
copy it. NumPy's floating-point warnings are not silenced here: the caller wraps a whole run in
``np.errstate(all="ignore")``.

Conventions
-----------
- ``spec.attrs`` maps the attrs to their defaults, ``REQUIRED`` if there is none. Unknown attrs are refused, unless
  their name begins with "_". Attrs may be left out; defaults are never filled in.
- ``spec.inputs``: ``"*rest"`` means any number, "axes?" may be left out at the end. ``spec.outputs``: ``"*parts"``
  means any number, determined by the attrs and types (``unstack``, ``split``).
- Dtypes promote as in NumPy: int32 / int32 is float64, float32 * int32 is float64, sums of integers are 64-bit. The ops
  ``sum prod mean cumsum cumprod`` take ``dtype``, a name or "same" for the input's, as TensorFlow and ONNX need. Op
  calls take no Python scalars: make them constants of :func:`scalar_dtype` first.
- Reductions: ``axis`` (None, int, tuple), ``keepdims``; or the axes as the second input. ``noop_with_empty_axes=False``
  selects ONNX's meaning of an empty list. ``argmax argmin cumsum cumprod``: ``axis`` or a second input.
- Integers as the attr or as the second input, not both: ``reshape`` shape (``copy_zeros`` for ONNX's 0), ``transpose``
  perm, ``expand_dims squeeze reverse`` axis, ``broadcast_to`` shape (``mutual`` for ONNX's Expand), ``tile`` repeats,
  ``pad`` pad_width (an (n, 2) input, then the value), ``split`` sizes (or num, uneven), ``slice`` starts ends axes
  steps, ``gather`` axis (its third input). ``concat`` takes the attr axis, or with ``axis_input=True`` its last input.
- TensorFlow: ``strided_slice`` with the five masks, ``slice_size`` (its Slice), ``truncate_divide``, ``truncate_mod``,
  ``fill`` (dims, value), ``shape size rank`` with ``dtype``; ``nonzero`` is (rank, n), transpose it for Where;
  ``select`` is where.
- ONNX: ``gemm`` (alpha, beta, transpose_a, transpose_b), ``constant_of_shape`` (value), ``scatter_update`` (ScatterND),
  ``put_along_axis`` (ScatterElements), ``take_along_axis`` (GatherElements), ``one_hot`` (wrap_negative), ``top_k``.
- Matrices are the last two axes; the axes before them are a batch. Bands of diagonals: ``matrix_diag``,
  ``matrix_diag_part``, ``matrix_set_diag`` with the inputs k (one diagonal, or the lowest and highest) and padding.
- Segments: ``segment_reduce unsorted_segment_reduce sparse_segment_reduce`` with the attr ``reduction``.
- Random draws: ``random_*`` are not pure; seeds, node and iteration path determine the draw of a firing, which outside
  loops and with seeds is that of TensorFlow. ``stateless_*`` and ``keyed_*`` take seeds or a key as inputs and are
  pure.
- Windows (``conv``, its gradients, ``conv_transpose``, pools, ``extract_patches``, ``dilation``) over any number of
  spatial axes: ``strides dilations`` (one or as many integers), ``pads`` ("valid", "same", "same_lower" or pairs),
  ``layout filter_layout`` ("last" as TensorFlow, "first" as ONNX), ``groups`` (None: as the channels imply),
  ``depthwise`` (TensorFlow's filter); pools: ``window ceil_mode count_include_pad``. See ``neural.windows``.
- Values other than arrays (TensorArrays, TensorLists, stacks, hash tables) are immutable: a write returns a new one.
  ``tensor_array*`` take the handle first and the flow, which holds the elements, last; ``tensor_list_*`` are those of
  TensorFlow; ``stack_new stack_push stack_pop``.
- Python's numbers: the ops of :mod:`workbench.ops.checked` take the attr ``checked``. Scalars of int64, float64 and
  complex128 then follow Python: a result that does not fit 64 bits, a division by zero, a root of a negative number
  fail. ``math`` has the functions of Python's module that NumPy lacks.
- Python: ``getitem`` and ``setitem`` with the attr ``index`` from :func:`encode_index`; ``numpy_functions[f]`` and
  :func:`ufunc_op` return the ops of NumPy functions. NumPy's names of ufuncs are aliases: ``arcsin``, ``true_divide``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.ir.opspec import REGISTRY, OpSpec
from workbench.ir.types import ANY, OPAQUE, STRING, dtype_name, numpy_dtype
from workbench.ops import control_flow, effects, foreign, recorded  # noqa: F401  registers its prefix
from workbench.ops.arrays import counting, creation, indexing, joining, partition, ragged, ragged_rows, scatter, shapes
from workbench.ops.define import REQUIRED, define
from workbench.ops.elementwise import (
    activation_gradients,
    arithmetic,
    comparison,
    functions,
    gradients,
    python_math,
    quantization,
    representation,
    special,
)
from workbench.ops.images import color, detection, resize
from workbench.ops.index import decode_index, encode_index
from workbench.ops.linear_algebra import bands, decompositions, matrices, products, solving
from workbench.ops.neural import (
    blocks,
    convolution,
    convolution_gradients,
    losses,
    normalization,
    pooling,
    pooling_gradients,
    recurrent,
)
from workbench.ops.numpy_api import numpy_functions, ufunc_op
from workbench.ops.random import distributions, draws
from workbench.ops.reductions import reduction, scans, segments
from workbench.ops.state import option, stack, tables, tensor_array, tensor_list
from workbench.ops.strings import basic, codes, formatting, hashing, parts, patterns

FAMILIES = (
    control_flow,
    arithmetic,
    functions,
    comparison,
    reduction,
    scans,
    products,
    shapes,
    joining,
    creation,
    indexing,
    scatter,
    effects,
    special,
    bands,
    matrices,
    decompositions,
    solving,
    segments,
    counting,
    partition,
    representation,
    draws,
    distributions,
    python_math,
    ragged,
    ragged_rows,
    gradients,
    tensor_array,
    tensor_list,
    stack,
    option,
    basic,
    parts,
    codes,
    patterns,
    hashing,
    formatting,
    tables,
    convolution,
    convolution_gradients,
    pooling,
    normalization,
    blocks,
    resize,
    color,
    detection,
    quantization,
    recurrent,
    losses,
    pooling_gradients,
    activation_gradients,
)

__all__ = [
    "REQUIRED",
    "decode_index",
    "define",
    "describe",
    "encode_index",
    "foreign",
    "lookup",
    "names",
    "numpy_functions",
    "scalar_dtype",
    "table",
    "ufunc_op",
]


def lookup(op: str, attrs: Mapping[str, Any] | None = None) -> OpSpec:
    """The entry of an op; a foreign one ("prefix:Name") may depend on the node's attrs. Raises UnknownOpError."""
    return foreign.resolve(op, attrs) if foreign.is_foreign(op) else REGISTRY[op]


def names() -> list[str]:
    """The names of all ops, without aliases, in alphabetical order."""
    return sorted(REGISTRY)


def scalar_dtype(value: bool | int | float | complex | str, *dtypes: str) -> str:
    """The dtype of a Python scalar combined with tensors of ``dtypes``: their dtype if the scalar fits, as for NumPy's
    weak scalars.

    >>> scalar_dtype(2, "float32"), scalar_dtype(2.0, "int32"), scalar_dtype(2.0)
    ('float32', 'float64', 'float64')
    """
    known = [numpy_dtype(d) for d in dtypes if d not in (ANY, OPAQUE, STRING)]
    if not known or isinstance(value, (str, bytes)):
        return dtype_name(np.asarray(value).dtype)
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)) and dtype_name(np.result_type(*known)) == "bfloat16":
        return "bfloat16"  # NumPy's rule for weak scalars covers only its own float types
    return dtype_name(np.result_type(*known, value))


def _call(spec: OpSpec) -> str:
    attrs = [f"{k}={'...' if v is REQUIRED else repr(v)}" for k, v in spec.attrs.items()]
    return f"{spec.name}({', '.join([*spec.inputs, *attrs])}) -> {', '.join(spec.outputs) or 'nothing'}"


def describe(name: str) -> str:
    """Describe an op as text: its inputs, attrs, outputs and meaning."""
    spec = lookup(name)
    notes = [f"Family: {spec.family}."]
    if spec.ufunc:
        notes.append(f"Same as the NumPy ufunc {spec.ufunc}.")
    if not spec.pure:
        notes.append("Has effects.")
    if spec.source:
        notes.append(f"See {spec.source}")
    return f"{_call(spec)}\n\n{spec.doc}\n\n{' '.join(notes)}"


def table() -> str:
    """All ops as a Markdown table, by family."""
    rows = ["| family | op | does |", "|---|---|---|"]
    for spec in sorted((REGISTRY[n] for n in REGISTRY), key=lambda s: (s.family, s.name)):
        rows.append(f"| {spec.family} | `{_call(spec)}` | {spec.doc} |".replace("**", r"\*\*"))
    return "\n".join(rows)
