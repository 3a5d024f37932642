"""Replays of recorded iterations, bit for bit: ops that PyTorch tests, and loops like its examples."""
