"""From a graph, its required outputs and the types of its feeds to a frozen :class:`ExecutionPlan`.

::

    required -> infer -> guards -> frames -> schedule -> lower -> Program + Layout
    what is     types    where a   does it   order of    slots,
    needed               value     nest?     each frame  instructions
                         lives

``dag`` shows a plan as nodes in execution order; ``cache`` keeps plans. In ``memory``, ``liveness`` finds how long
values are needed, ``allocation`` which of them share memory, and ``memory_bound`` the least memory of any run.

Frames that do not nest are *raw* (schedule_frames, unstructured): facts about them that guards do not determine are
computed at run time. A frame that waits for its own Exits is split first (graph_order, split_frames).
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
