"""A proposed fix: a sentence for the user, and the data by which a program applies it.

Kinds of :class:`Fix`:

===========  ======================================================================================================
tolerance    move the threshold of a clause from ``old`` to ``new``
dtype        compute the variable ``target`` with the dtype ``new``
step         make the step of ``target`` smaller: the factor ``old`` becomes ``new``
sign         reverse the step of ``target``
comparison   write the comparison ``new`` instead of ``old``
stop-at-nan  end the loop at the first number that is not finite
cap          end the loop after ``new`` iterations
update       write an update of ``target``, which only the author can
inspect      look at ``target``; the numbers do not suggest a change
===========  ======================================================================================================
"""

from __future__ import annotations

from typing import Any

from workbench.text import harmless

KINDS = ("tolerance", "dtype", "step", "sign", "comparison", "stop-at-nan", "cap", "update", "inspect")


class Fix(str):
    """A proposed fix: a sentence that is also data.

    Attributes
    ----------
    kind : str
        "tolerance", "dtype", "step", "sign", "comparison", "stop-at-nan", "cap", "update" or "inspect".
    target : str
        The variable, value or clause that it changes.
    old, new : object
        The current and the proposed setting.
    applies : bool
        True if :meth:`workbench.Session.apply_fix` can try it.
    clause : object
        The node of the comparison.
    frame : tuple of str or None
        Path of the loop.
    mirrored, negated : bool
        Difference between the comparison in the sentence and the one in the graph.
    """

    kind: str
    target: str
    old: Any
    new: Any
    applies: bool
    clause: Any
    frame: tuple[str, ...] | None
    mirrored: bool
    negated: bool

    def __new__(
        cls,
        sentence: str,
        kind: str = "inspect",
        target: str = "",
        old: Any = None,
        new: Any = None,
        applies: bool = False,
        clause: Any = None,
    ) -> Fix:
        self = super().__new__(cls, sentence)
        self.kind, self.target, self.old, self.new, self.applies, self.clause = kind, target, old, new, applies, clause
        self.frame, self.mirrored, self.negated = None, False, False
        return self

    def placed(self, frame: tuple[str, ...], mirrored: bool, negated: bool) -> Fix:
        """The same fix with its location in the graph."""
        self.frame, self.mirrored, self.negated = frame, mirrored, negated
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (str(self), self.kind, self.target, self.old, self.new, self.applies, self.clause)

    def table(self) -> dict[str, Any]:
        """The fix as plain data."""
        plain = {
            k: v if isinstance(v, (int, float, str, bool)) or v is None else str(v)
            for k, v in (("old", self.old), ("new", self.new))
        }
        return {"sentence": str(self), "kind": self.kind, "target": self.target, **plain, "applies": self.applies}

    @harmless
    def __repr__(self) -> str:
        return f"<Fix {self.kind} of {self.target or 'the loop'}: {str(self)}>"
