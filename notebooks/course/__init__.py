"""The checks behind the exercises of the course.

A notebook asks, the reader fills in an answer, and ``check_answer("02.1", answer)`` describes the result. A wrong or a
missing answer gives a hint and never an error, so that "Run All Cells" reaches the end of a notebook, unless a library
is missing, which its first cell says. Worked solutions are in ``notebooks/solutions/``.

The questions of each notebook are a module of this package: a function per exercise, which returns a sentence if the
answer is right and raises :class:`Hint` if it is not.
"""

from __future__ import annotations

from course.cells import definitions, needs
from course.decoding_runs import decoded
from course.desk import EXERCISES, Hint, Verdict, check_answer, hint, score
from course.exports import planted
from course.jax_loop import weighings
from course.looped_models import looped
from course.nonfinite import sick_program
from course.torch_loop import night_run, quiet_run
from course.two_runs import two_ponds, two_programs

__all__ = [
    "EXERCISES", "Hint", "Verdict", "check_answer", "decoded", "definitions", "hint", "looped", "needs", "night_run",
    "planted", "quiet_run", "score", "sick_program", "two_ponds", "two_programs", "weighings",
]
