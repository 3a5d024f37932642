"""Two programs that should compute the same, such as a module and its export: the parts of the second that err."""
