"""Identities: a polynomial of the variables that an iteration multiplies with a factor, so that it stays zero, or not.

``terms`` holds polynomials of several variables over the integers or modulo a power of two, ``formulas`` computes their
next values on each way through the branches of an iteration, and ``identity`` finds the comparisons that keep theirs.
"""
