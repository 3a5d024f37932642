"""Inputs from files: ``.npy``, ``.npz``, ``.csv`` and ``.tsv``, ``.json``, and pictures."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.input_pictures import SUFFIXES, read_picture
from workbench.errors import FeedError

if TYPE_CHECKING:
    from workbench.ir.types import TensorType

#: maximum characters of one value on the command line, and bytes of a JSON file of inputs
MAX_TEXT = 10_000_000
#: file types that an option accepts
KINDS = ".npy, .npz, .csv, .json, or a picture such as .png, .jpg"
#: separators of the numbers in a line
_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def read_file(path: Path) -> dict[str, Any]:
    """Inputs by name from an .npz or .json file, or from the columns of a .csv file with a header."""
    if path.suffix == ".json":
        data = _json(path)
        if not isinstance(data, dict):
            raise FeedError(f"{str(path)!r} contains no names.", slug="bad-input", fix='write {"name": value, ...}.')
        return {name: plain(value) for name, value in data.items()}
    loaded = _table(path) if path.suffix in _SEPARATORS else _arrays(path)
    if not isinstance(loaded, dict):
        raise FeedError(
            f"{str(path)!r} contains one array without a name.",
            slug="bad-input",
            fix=f"give it with --input NAME=@{path}.",
        )
    return loaded


def from_file(name: str, path: Path, type_: TensorType | None) -> Any:
    """The value of one input; ``type_`` is its declared type, to which a picture is fitted (None: unknown)."""
    if path.suffix == ".json":
        data = _json(path)
        return plain(data[name] if isinstance(data, dict) and name in data else data)
    if path.suffix.lower() in SUFFIXES:
        return read_picture(name, path, type_)
    if path.suffix in _SEPARATORS:
        loaded = _table(path)
        if not isinstance(loaded, dict):
            return _typed(loaded, type_)
        if name in loaded:
            return _typed(loaded[name], type_)
        import numpy as np

        columns = list(loaded.values())
        return _typed(columns[0] if len(columns) == 1 else np.stack(columns, axis=1), type_)
    loaded = _arrays(path)
    if not isinstance(loaded, dict):
        return loaded
    if name in loaded:
        return loaded[name]
    if len(loaded) == 1:
        return next(iter(loaded.values()))
    raise FeedError(
        f"{str(path)!r} does not contain {name!r}.", slug="bad-input", fix=f"it contains {', '.join(loaded)[:200]}."
    )


def _typed(numbers: Any, type_: TensorType | None) -> Any:
    """Numbers of a text file in the dtype of their input, if this changes none of them by more than rounding."""
    from workbench.ir.types import ANY, OPAQUE, STRING, numpy_dtype

    if type_ is None or type_.dtype in (ANY, OPAQUE, STRING):
        return numbers
    target = numpy_dtype(type_.dtype)
    if target.kind in "iub":
        import numpy as np

        with np.errstate(all="ignore"):
            whole = numbers.astype(target)
        # the run reports values that are not whole, with the input's name
        return whole if (whole == numbers).all() else numbers
    return numbers.astype(target)


def _table(path: Path) -> Any:
    """The numbers of the lines: shape (lines, columns), or (n,) for one column; a dict of columns if they have
    names."""
    import numpy as np

    separator = _SEPARATORS[path.suffix]
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read()
        first = next((row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row), [])
        names = None if all(_is_number(word) for word in first) else [word.strip() for word in first]
        start = 0 if names is None else 1
        rows = np.loadtxt(io.StringIO(text), delimiter=separator, skiprows=start, ndmin=2, comments=None)
    except FileNotFoundError:
        raise _missing(path) from None
    except (OSError, ValueError, csv.Error) as error:
        raise FeedError(
            f"{str(path)!r} cannot be read as lines of numbers: {error}.",
            slug="bad-input",
            fix=f"write the same number of values in each line, separated by {separator!r}, and at most one header "
            "line.",
        ) from None
    if not rows.size:
        raise FeedError(f"{str(path)!r} contains no numbers.", slug="bad-input", fix="write at least one line of them.")
    if names is None:
        return rows[:, 0] if rows.shape[1] == 1 else rows
    if len(set(names)) < len(names) or len(names) != rows.shape[1]:
        raise FeedError(
            f"{str(path)!r} has {len(names)} names, {len(set(names))} of them different, for {rows.shape[1]} columns.",
            slug="bad-input",
            fix="write one name for each column.",
        )
    return {name: rows[:, k] for k, name in enumerate(names)}


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _missing(path: Path) -> FeedError:
    return FeedError(f"File not found: {str(path)!r}.", slug="no-such-file", fix="check the path.")


def _json(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_TEXT + 1)
        if len(data) > MAX_TEXT:
            raise FeedError(f"{str(path)!r} is larger than {MAX_TEXT:,} bytes.", slug="too-large", fix="use .npz.")
        return json.loads(data.decode("utf-8"))
    except FileNotFoundError:
        raise _missing(path) from None
    except (OSError, ValueError, RecursionError) as error:
        raise FeedError(f"{str(path)!r} cannot be read as JSON: {error}.", slug="bad-input") from None


def _arrays(path: Path) -> Any:
    """An array, or a dict of arrays; pickles are refused."""
    import numpy as np

    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except FileNotFoundError:
        raise _missing(path) from None
    except Exception as error:  # np.load and zipfile raise almost any exception on a broken file
        raise FeedError(
            f"{str(path)!r} contains no readable arrays: {error}.",
            slug="bad-input",
            fix="write it with numpy.save or numpy.savez; object arrays are not read.",
        ) from None


def plain(data: Any) -> Any:
    """JSON as a value; mappings and null are refused."""
    if isinstance(data, dict) or data is None:
        raise FeedError(
            "null and {...} are not valid values.", slug="bad-input", fix="give a number, a string or a list of them."
        )
    return data
