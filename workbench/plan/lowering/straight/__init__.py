"""Runs of graphs without loops and branches as a list of calls."""
