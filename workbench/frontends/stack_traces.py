"""Lines of the user's code in the stack traces that PyTorch keeps in programs and ONNX models."""

from __future__ import annotations

import re

from workbench.ir.node import Source

_FRAME = re.compile(r'File "(?P<file>[^"\n]*)", line (?P<line>\d{1,9}), in [^\n]*(?:\n(?! *File ")(?P<text>[^\n]*))?')
#: PyTorch's own files, and code that it generated
_OF_TORCH = re.compile(r"(site|dist)-packages[/\\](torch|functorch)[/\\]|^torch[/\\]|^<")


def source_of(trace: str) -> Source | None:
    """The line of the user's code in a stack trace: the innermost line outside the PyTorch files.

    Where PyTorch generated the code of a body, as ``torch.export`` does unless it is called with ``strict=True``, the
    line is that of the enclosing call, and the expression also shows the generated text.
    """
    frames = [(m["file"], int(m["line"]), (m["text"] or "").strip()) for m in _FRAME.finditer(trace)]
    own = [f for f in frames if not _OF_TORCH.search(f[0])]
    if not own:
        return None
    file, line, text = own[-1]
    last = frames[-1]
    if last[0].startswith("<eval_with_key>"):
        text = f"{text}: {last[2].partition(';')[0]}"
    return Source(file, line, text)
