"""Identities: polynomials of the variables that an iteration multiplies by a factor, so that they stay zero or nonzero.

``terms`` holds polynomials of several variables over the integers or modulo a power of two, ``formulas`` computes the
next values of the variables on each path through the branches of an iteration, and ``identity`` finds the comparisons
that keep their values.
"""
