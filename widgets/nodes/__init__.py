"""The nodes of a graph as a table, with the newest value of each."""
