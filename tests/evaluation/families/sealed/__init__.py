"""Families written by a stranger to the analysis, after those of ``outside``; the half that nobody tunes on."""
