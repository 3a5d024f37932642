"""All that is said of the states of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.recorder.looped.told import StateSentence
from workbench.recorder.looped.told_causes import cause_sentences
from workbench.recorder.looped.told_courses import course_sentences
from workbench.recorder.looped.told_readings import gate_sentences, loss_sentences, output_sentences

if TYPE_CHECKING:
    from workbench.recorder.looped.states_report import StatesReport

KINDS = (course_sentences, cause_sentences, gate_sentences, output_sentences, loss_sentences)


def sentences(report: StatesReport) -> list[StateSentence]:
    """All sentences whose check holds."""
    return [sentence for kind in KINDS for sentence in kind(report) if sentence.holds()]
