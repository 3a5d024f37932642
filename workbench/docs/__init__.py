"""The pages of the documentation, as files beside this one; the README links to each.

.. include:: debugging.md
.. include:: panel.md
.. include:: terminal.md
.. include:: json.md
.. include:: agents.md
.. include:: python_functions.md
.. include:: imports.md
.. include:: analysis.md
.. include:: other_loops.md
.. include:: pytorch_loops.md
.. include:: sweeps.md
.. include:: recorder.md
.. include:: logs.md
.. include:: arrays.md
.. include:: types.md
.. include:: speed.md
.. include:: devices.md
.. include:: limits.md
.. include:: development.md
"""
