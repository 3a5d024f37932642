"""From a graph, its required outputs and the types of its feeds to a frozen :class:`ExecutionPlan`.

::

    required -> infer -> guards -> frames -> schedule -> lower -> Program + Layout
    what is     types    where a   does it   order of    slots,
    needed               value     nest?     each frame  instructions
                         lives
"""

from workbench.plan.cache import PLANS, CacheStats, PlanCache
from workbench.plan.plan import ExecutionPlan, choose_outputs, make_plan, signature_of

__all__ = ["PLANS", "CacheStats", "ExecutionPlan", "PlanCache", "choose_outputs", "make_plan", "signature_of"]
