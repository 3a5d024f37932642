"""The nodes of a graph as a table, with what each of them gave."""
