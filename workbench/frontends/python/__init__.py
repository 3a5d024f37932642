"""Plain Python functions as graphs: ``wb.graph``.

::

    decorator ─► text (source, syntax tree) ─► engine ──┬── statements, assigning, branching, iterating, looping
       │                                                ├── expressions, items, logic, comprehensions
       │                                                ├── calling ─► inlining (plain functions), builtin_objects
       │                                                └── operators (what they mean for values: numbers, NumPy)
       ├── signatures: arguments ─► inputs
       └── results, finishing: what Python would return ◄─ outputs of the graph

    what variables hold      objects, scopes, sequences; memory: arrays, lists and dicts by their identity
    through a branch         sides, merging
    around a loop            assumptions, sharing (which arrays may be one); counting (ranges, zip, enumerate)
    both                     templates (kinds and types), filling (values in their places)
"""
