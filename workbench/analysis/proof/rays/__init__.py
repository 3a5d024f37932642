"""Rays: follows a loop whose variables have the same increments in every period, exactly, for any number of periods.

``polynomials`` represents numbers as functions of the number of periods, ``moving_values`` computes the ops of a graph
with them, ``iteration`` runs an iteration of a loop, and ``ray`` searches for rays, proves them and jumps along them.
"""
