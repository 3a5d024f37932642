"""Five to six questions about each of some hundred small solvers and programs; see ``ask`` and ``python -m`` it."""
