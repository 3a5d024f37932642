"""The line of the user's code that runs: the innermost frame outside of torch and of this package."""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_LIBRARIES = ("contextlib.py", "functools.py", "threading.py", "weakref.py")
#: begins the name of the folder in which torch.compile keeps the code that it writes
_COMPILED = "torchinductor_"


class UserLines:
    """Finds lines; remembers of each code object whether it is the user's."""

    def __init__(self, library: str) -> None:
        compiled = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
        others = (library, _PACKAGE, *([os.path.abspath(compiled)] if compiled else []))
        self._others = tuple(os.path.join(folder, "") for folder in others)
        #: by the address of a code object, which is kept: the hash of one takes long
        self._own: dict[int, tuple[bool, CodeType]] = {}

    def _is_own(self, code: CodeType) -> tuple[bool, CodeType]:
        name = code.co_filename
        own = not name.startswith(self._others) and not name.endswith(_LIBRARIES)
        own = own and f"{os.sep}{_COMPILED}" not in name
        # a cell of a notebook is <ipython-input-...>, a file of its own, or has a name of the debugger's
        own = own and not (name.startswith("<") and not name.startswith(("<ipython", "<stdin>", "<string>", "<cell")))
        found = self._own[id(code)] = own, code
        return found

    def here(self, depth: int = 2) -> tuple[str, int]:
        """(file, line) of the innermost frame of the user's code, ``depth`` frames up or above; ("", 0) without one."""
        frame: FrameType | None = sys._getframe(depth)
        known = self._own
        while frame is not None:
            code = frame.f_code
            if (known.get(id(code)) or self._is_own(code))[0]:
                return code.co_filename, frame.f_lineno
            frame = frame.f_back
        return "", 0
