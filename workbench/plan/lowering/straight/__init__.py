"""Runs of graphs without loops as a list of calls."""
