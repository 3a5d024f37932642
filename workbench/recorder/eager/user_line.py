"""The running line of the user's code: the innermost frame outside torch and this package."""

from __future__ import annotations

import os
from types import CodeType

from workbench.kernels.eager import Lines

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_LIBRARIES = ("contextlib.py", "functools.py", "threading.py", "weakref.py")
#: prefix of the folder in which torch.compile keeps its generated code
_COMPILED = "torchinductor_"


class UserLines(Lines):
    """Finds lines; caches for each code object whether it is the user's."""

    def __init__(self, library: str) -> None:
        compiled = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
        others = (library, _PACKAGE, *([os.path.abspath(compiled)] if compiled else []))
        self._others = tuple(os.path.join(folder, "") for folder in others)
        super().__init__()

    def is_own(self, code: CodeType) -> bool:
        """True for the user's code."""
        name = code.co_filename
        own = not name.startswith(self._others) and not name.endswith(_LIBRARIES)
        own = own and f"{os.sep}{_COMPILED}" not in name
        # a notebook cell is <ipython-input-...>, a file, or has a name from the debugger
        return own and not (name.startswith("<") and not name.startswith(("<ipython", "<stdin>", "<string>", "<cell")))
