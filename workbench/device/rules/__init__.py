"""Rules of ops on a device: for a node of known types, a function of (namespace, operands), or None.

A rule is made once for each node of a plan. It receives operands of the library, and numbers as NumPy arrays of rank 0.
"""

from workbench.device.rules.elementwise import elementwise_rule
from workbench.device.rules.moving import MOVING, moving_rule
from workbench.device.rules.reducing import REDUCING, reducing_rule
from workbench.device.rules.rule import Rule, RuleNode

__all__ = ["MOVING", "REDUCING", "Rule", "RuleNode", "elementwise_rule", "moving_rule", "reducing_rule", "rule_of"]


def rule_of(node: RuleNode) -> Rule | None:
    """The rule of a node; None if there is none for these types and attributes."""
    if node.op in MOVING:
        return moving_rule(node)
    if node.op in REDUCING:
        return reducing_rule(node)
    return elementwise_rule(node)
