"""SameDiff graphs of deeplearning4j -> :class:`workbench.Graph`, without Java: see ``convert_flatgraph``."""
