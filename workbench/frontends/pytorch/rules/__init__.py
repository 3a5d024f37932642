"""Rules from ATen ops to workbench ops."""

from workbench.frontends.pytorch.rules import (  # noqa: F401  each fills the tables
    activations,
    creation,
    draws,
    elementwise,
    indexing,
    layers,
    products,
    recurrent,
    reductions,
    writers,
)
from workbench.frontends.pytorch.rules.table import RULES, WRITERS, also

also({
    "divide": "div", "subtract": "sub", "multiply": "mul", "greater": "gt", "greater_equal": "ge", "less": "lt",
    "less_equal": "le", "not_equal": "ne", "arctan2": "atan2", "concatenate": "cat", "special_softmax": "softmax",
    "special_log_softmax": "log_softmax", "special_logsumexp": "logsumexp", "special_digamma": "digamma",
    "special_gammaln": "lgamma", "special_xlogy": "xlogy", "special_erfc": "erfc", "special_erfinv": "erfinv",
    "special_exp2": "exp2", "special_log1p": "log1p", "special_round": "round", "arcsinh": "asinh",
    "arccosh": "acosh", "arctanh": "atanh", "fix": "trunc",
})  # fmt: skip

__all__ = ["RULES", "WRITERS"]
