"""From a graph, its required outputs and the types of its feeds to a frozen :class:`ExecutionPlan`.

::

    required -> infer -> guards -> frames -> schedule -> lower -> Program + Layout
    what is     types    where a   does it   order of    slots,
    needed               value     nest?     each frame  instructions
                         lives

``dag`` shows a plan as nodes in execution order; ``cache`` keeps plans. ``lifetimes`` says how long values are needed,
``offsets`` which of them share memory, ``memory`` and ``lives`` how much no run can do without.

Frames that do not nest are *raw* (arrange, lower_raw): what no guard tells about them is computed. One that waits for
its own Exits is taken apart first (order, parts).
"""

from workbench.plan.cache import PLANS, CacheStats, PlanCache
from workbench.plan.dag import ExecutionNode, ExecutionNodeType, ForwardExecutionDAG, ForwardExecutionDAGBuilder
from workbench.plan.live_ranges import memory_of
from workbench.plan.memory.memory_bound import Lifetime, PlanMemory
from workbench.plan.plan import ExecutionPlan, choose_outputs, make_plan, signature_of

__all__ = [
    "PLANS",
    "CacheStats",
    "ExecutionNode",
    "ExecutionNodeType",
    "ExecutionPlan",
    "ForwardExecutionDAG",
    "ForwardExecutionDAGBuilder",
    "Lifetime",
    "PlanCache",
    "PlanMemory",
    "choose_outputs",
    "make_plan",
    "memory_of",
    "signature_of",
]
