"""Faults of a recorded loop: the op that made the first bad number, and faults that give none."""
