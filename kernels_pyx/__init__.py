"""Floor 0: everything compiled. Imports nothing of ours."""
