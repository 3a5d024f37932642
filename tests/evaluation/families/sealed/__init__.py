"""Families written by a stranger to the analysis, after those of ``outside``; the half by which it was judged."""
