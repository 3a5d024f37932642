"""``workbench grade``: marks students' notebooks with the checks of the course.

```
command.py     options, one result per student as JSON and CSV, one table of all
  hand_in.py   finds the students and reads their notebooks as data; nothing in them is executed here
  worker.py    starts a process for each notebook, within limits, and reads its results
    sheet.py   that process: runs the cells, and writes each verdict at once
```
"""

from workbench.cli.grade.command import add

__all__ = ["add"]
