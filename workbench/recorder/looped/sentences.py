"""All that is said of the states of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.recorder.looped.told import StateSentence, groups_of
from workbench.recorder.looped.told_causes import cause_sentences, norm_sentences
from workbench.recorder.looped.told_courses import course_sentences
from workbench.recorder.looped.told_readings import gate_sentences, loss_sentences, output_sentences

if TYPE_CHECKING:
    from workbench.recorder.looped.states_report import StatesReport

READINGS = (norm_sentences, gate_sentences, output_sentences, loss_sentences)


def sentences(report: StatesReport) -> list[StateSentence]:
    """All sentences whose check holds: the course of most tokens and its cause first."""
    found = []
    for course, which in groups_of(report).items():
        found += [*course_sentences(report, course, which), *cause_sentences(report, course, which)]
    found += [sentence for kind in READINGS for sentence in kind(report)]
    return [sentence for sentence in found if sentence.holds()]
