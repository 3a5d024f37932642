"""What the ledger says to those who come too late."""

from __future__ import annotations

from workbench.errors import ReleasedError
from workbench.execution.memory.buffers import Key
from workbench.execution.memory.scopes import Hold


def array_gone(key: Key, slug: str) -> ReleasedError:
    """A released array is used (``use-after-release``), or released again (``double-release``)."""
    done, fix = {
        "double-release": ("released again", "release it once: ask handle.released, or leave it to its manager."),
        "use-after-release": (
            "used", "release it later, let whoever needs it hold it (handle.hold), or move it to a manager that "
            "lives longer (handle.attach, manager.ret).",
        ),
    }[slug]  # fmt: skip
    made = f" ({key.released.made})" if key.released is not None else ""
    error = ReleasedError(f"Array {key.uid}{made} is {done}, but it was {key.released}.", slug=slug, fix=fix)
    error.released = key.released
    return error


def hold_dropped(hold: Hold, slug: str) -> ReleasedError:
    """The same for a hold."""
    done = "dropped again" if slug == "double-release" else "used"
    error = ReleasedError(
        f"The hold of {hold.by!r} on array {hold.uid} is {done}, but it was {hold.dropped}.", slug=slug,
        fix="take a new hold as long as the array is there.",
    )  # fmt: skip
    error.released = hold.dropped
    return error
