"""Faults of a recorded loop: the op that produced the first NaN or infinity, and faults without either."""
