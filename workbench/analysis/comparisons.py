"""The six comparisons: signs, functions, and what they are with sides exchanged or denied."""

from __future__ import annotations

import operator

OPS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
#: op of a node -> its sign, and back
NAMES = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!="}
NODES = {sign: name for name, sign in NAMES.items()}

__all__ = ["MIRROR", "NAMES", "NEGATED", "NODES", "OPS"]
