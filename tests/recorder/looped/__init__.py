"""Looped models: the states of a block that a forward pass calls repeatedly."""
