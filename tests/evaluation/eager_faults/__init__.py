"""Training loops of PyTorch with one planted fault each, and clean ones that look suspicious.

The comment ``# fault`` marks the line to be named. ``held.py`` has kinds that were left out of development and scored
once. ``python -m tests.evaluation.eager_faults`` asks them all.
"""
