"""Refuses operations that leave the process, reach other devices, or call unknown code."""

from __future__ import annotations

from typing import Any

from workbench.frontends.stablehlo.library import ir, nested

REFUSED = {
    "infeed": "it reads from the host while it runs",
    "outfeed": "it writes to the host while it runs",
    "send": "it sends values to another program",
    "recv": "it receives values of another program",
    "all_gather": "it gathers from several devices",
    "all_reduce": "it works over several devices",
    "all_to_all": "it sends values between devices",
    "collective_broadcast": "it sends values between devices",
    "collective_permute": "it sends values between devices",
    "cross-replica-sum": "it adds over several devices",
    "reduce_scatter": "it works over several devices",
    "partition_id": "it asks which device it is on",
    "replica_id": "it asks which device it is on",
    "async_start": "it runs beside the program",
    "async_done": "it runs beside the program",
    "after_all": "it orders effects",
    "create_token": "it orders effects",
    "dynamic_conv": "its padding is computed, which XLA does not take",
    "dynamic_gather": "its sizes are computed, which XLA does not take",
    "dynamic_pad": "its padding is computed, which XLA does not take",
    "real_dynamic_slice": "its limits are computed, which XLA does not take",
    "rng": "it gives other numbers in each run, so that no step could be repeated",
}
#: dialects whose operations are evaluated; others in a region or a module's text could affect this process
DIALECTS = ("stablehlo", "chlo", "func")


def refusal(operation: Any) -> str | None:
    """The reason why an operation or one in its regions is not evaluated; None if all are."""
    for each in (operation, *nested(operation)):
        reason = _own_refusal(each)
        if reason is not None:
            return reason if each is operation else f"its region has {each.name}, and {reason}"
    return None


def _own_refusal(operation: Any) -> str | None:
    family, _, name = operation.name.partition(".")
    if family not in DIALECTS:
        return f"operations of the dialect {family!r} are not known here"
    if name == "custom_call":
        return f"it calls compiled code outside of the program, {target_of(operation)!r}"
    return REFUSED.get(name)


def target_of(operation: Any) -> str:
    """The name of the function that a custom call calls."""
    target: str = ir().StringAttr(operation.attributes["call_target_name"]).value
    return target[:100]
