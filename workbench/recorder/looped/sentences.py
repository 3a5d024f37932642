"""All sentences about the states of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.recorder.looped.cause_sentences import cause_sentences, norm_sentences
from workbench.recorder.looped.course_sentences import course_sentences
from workbench.recorder.looped.reading_sentences import gate_sentences, loss_sentences, output_sentences
from workbench.recorder.looped.sentence_parts import StateSentence, groups_of

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
