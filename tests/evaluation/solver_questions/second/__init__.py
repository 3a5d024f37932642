"""A second set of loops: written after the first was mended, and first asked as they stand."""

from tests.evaluation.solver_questions.loops import Loop
from tests.evaluation.solver_questions.second.conditions import CONDITIONS
from tests.evaluation.solver_questions.second.integers import INTEGERS
from tests.evaluation.solver_questions.second.linear import LINEAR
from tests.evaluation.solver_questions.second.minimisers import MINIMISERS
from tests.evaluation.solver_questions.second.models import MODELS
from tests.evaluation.solver_questions.second.series import SERIES
from tests.evaluation.solver_questions.second.time_steps import TIME_STEPS
from tests.evaluation.solver_questions.second.zeros import ZEROS

SECOND: list[Loop] = [*LINEAR, *ZEROS, *MINIMISERS, *MODELS, *TIME_STEPS, *SERIES, *INTEGERS, *CONDITIONS]
