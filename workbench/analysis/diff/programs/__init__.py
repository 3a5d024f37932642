"""Two programs that should compute the same, such as a module and its export: what errs by itself in the second."""
