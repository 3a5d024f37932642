"""Errors of the ledger: use after release, and double release."""

from __future__ import annotations

from workbench.arrays.buffers import Key
from workbench.arrays.scopes import Hold
from workbench.errors import ReleasedError


def array_gone(key: Key, slug: str) -> ReleasedError:
    """The error for use of a released array (``use-after-release``), or a second release (``double-release``)."""
    done, fix = {
        "double-release": ("released again", "release it once: check handle.released, or leave it to its manager."),
        "use-after-release": (
            "used",
            "release it later, hold it where it is needed (handle.hold), or move it to a manager that "
            "lives longer (handle.attach, manager.ret).",
        ),
    }[slug]
    made = f" ({key.released.made})" if key.released is not None else ""
    error = ReleasedError(f"Array {key.uid}{made} is {done}, but it was {key.released}.", slug=slug, fix=fix)
    error.released = key.released
    return error


def hold_dropped(hold: Hold, slug: str) -> ReleasedError:
    """The error for a hold that is used or dropped again after it was dropped."""
    done = "dropped again" if slug == "double-release" else "used"
    error = ReleasedError(
        f"The hold of {hold.by!r} on array {hold.uid} is {done}, but it was {hold.dropped}.",
        slug=slug,
        fix="take a new hold while the array is not freed.",
    )
    error.released = hold.dropped
    return error
