"""Rays: a loop whose variables take the same increments in every period, followed exactly for any number of periods.

``polynomials`` holds numbers as functions of the number of periods, ``moving_values`` computes the ops of a graph with
them, ``iteration`` runs an iteration of a loop, and ``ray`` searches, proves and jumps.
"""
