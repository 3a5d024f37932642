"""Facts of ATen ops from their schemas: which arguments they write, which outputs are views or not yet written."""

from __future__ import annotations

from typing import Any

from workbench.kernels.eager import OpInfo

#: ops whose outputs are uninitialised memory
UNWRITTEN = {
    "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted", "resize_",
    "empty_quantized",
}  # fmt: skip
#: ops that write given constants: an infinity among these is intended
CONSTANT = {
    "full", "full_like", "new_full", "fill", "fill_", "masked_fill", "masked_fill_", "scalar_tensor", "zero_", "zeros",
    "lift_fresh", "lift_fresh_copy", "index_fill", "index_fill_", "where", "triu", "tril", "triu_", "tril_",
    "constant_pad_nd",
}  # fmt: skip
#: ops that may return an infinity or a NaN for a zero among the operands
SINGULAR = {
    "log", "log2", "log10", "log_", "div", "div_", "reciprocal", "reciprocal_", "rsqrt", "rsqrt_", "pow", "pow_",
    "xlogy", "log_softmax", "_log_softmax", "addcdiv", "addcdiv_", "_foreach_div_", "_foreach_addcdiv_", "logit",
}  # fmt: skip
#: ops in which an infinite number is an operand like any other, not a constant to be written
ARITHMETIC = {"add", "sub", "rsub", "mul", "div", "pow", "addcmul", "addcdiv", "lerp", "addmm", "baddbmm", "addbmm"}
#: ops that return plus infinity only where a value is too large, or was plus infinity
RISING = {"exp", "exp2", "expm1", "add", "sum", "cumsum", "addmm", "softplus", "logsumexp", "sinh"}
#: ops whose integer result may not fit the dtype
WRAPPING = {
    "_to_copy", "add", "add_", "sub", "sub_", "mul", "mul_", "sum", "cumsum", "neg", "pow", "prod", "abs", "square",
}  # fmt: skip
#: outputs that a library reserves for its backward pass, not values
WORKSPACES = {"mkldnn_rnn_layer": 3, "_cudnn_rnn": 3, "miopen_rnn": 3}
#: arguments that are written although the schema does not say so: running means and variances
UNDECLARED = {"native_batch_norm": (3, 4), "cudnn_batch_norm": (3, 4), "miopen_batch_norm": (3, 4)}
#: ops whose written values do not depend on the previous ones
OVERWRITES = {
    "copy_", "fill_", "zero_", "normal_", "uniform_", "bernoulli_", "random_", "exponential_", "geometric_",
}  # fmt: skip
READ_BACK = "_local_scalar_dense"


def describe(func: Any, nondeterministic: Any) -> OpInfo:
    """The facts of an overload of an op; ``nondeterministic`` is the tag of ops that read the random state."""
    schema = func._schema
    op = schema.name.rpartition("::")[2]
    written: list[int] = list(UNDECLARED.get(op, ()))
    names: list[str] = []
    for k, argument in enumerate(schema.arguments):
        alias = argument.alias_info
        if alias is not None and alias.is_write:
            if argument.kwarg_only:
                names.append(argument.name)
            else:
                written.append(k)
    # set_ gives a tensor another storage and writes nothing: calls are recorded with the storages of their tensors
    view = op == "set_" or any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
    overload = str(func)
    arithmetic = op.removeprefix("_foreach_").rstrip("_") in ARITHMETIC or op.startswith("_fused")
    kinds = (op in UNWRITTEN, op in CONSTANT, op in SINGULAR, op in WRAPPING, arithmetic, op.rstrip("_") in RISING)
    values = WORKSPACES.get(op)
    overwritten = tuple(written) if op in OVERWRITES else ()
    single = values is None and not names and (not written or written == [0]) and len(schema.returns) == 1
    random = nondeterministic in func.tags
    gives = bool(written or names) or any("Tensor" in str(r.type) for r in schema.returns)
    more = (overwritten, op.startswith(("_foreach", "_fused")), single, random, gives, op == READ_BACK)
    return OpInfo(op, overload, tuple(written), tuple(names), view, *kinds, values, *more)
