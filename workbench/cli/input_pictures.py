"""A picture as the input of a model, fitted to the declared dtype, layout and size. Pillow decodes it."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import FeedError
from workbench.libraries import needed

if TYPE_CHECKING:
    from workbench.ir.types import TensorType

#: file suffixes that are read as pictures
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
#: maximum number of pixels
MAX_PIXELS = 1 << 26
#: number of channels -> Pillow's mode
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def read_picture(name: str, path: Path, type_: TensorType | None) -> Any:
    """The pixels in the layout of the input.

    Channels are first or last, depending on which axis of the declared shape is 1, 3 or 4; four axes begin with a batch
    of one. Declared sizes scale the picture (bilinear), open ones keep its size. Floating-point inputs get numbers from
    0 to 1, integers from 0 to 255. Without a declared shape: (height, width, 3), uint8.

    Raises
    ------
    FeedError
        ``missing-library`` without Pillow, ``no-such-file``, ``bad-input`` for a file that is not a picture or an input
        that cannot take one, ``too-large`` for more than 67 million pixels.
    """
    import numpy as np

    channels, first, rank, size = _layout(name, type_)
    picture = _opened(path)
    try:
        picture = picture.convert(_MODES[channels])
        width, height = size[1] or picture.width, size[0] or picture.height
        if (width, height) != picture.size:
            picture = picture.resize((width, height), importlib.import_module("PIL.Image").Resampling.BILINEAR)
    except (OSError, ValueError, SyntaxError) as error:
        raise _unread(path, error) from None
    pixels = np.asarray(picture).reshape(height, width, channels)
    dtype = "uint8" if type_ is None or type_.dtype == "any" else type_.dtype
    from workbench.ir.types import numpy_dtype

    target = numpy_dtype(dtype)
    if target.kind in "iu":
        pixels = pixels.astype(target)
    else:
        pixels = (pixels / 255).astype(target)
    if rank == 2:
        return pixels[:, :, 0]
    pixels = np.moveaxis(pixels, 2, 0) if first else pixels
    return np.ascontiguousarray(pixels[None] if rank == 4 else pixels)


def _opened(path: Path) -> Any:
    purpose, fix = f"Reading the picture {str(path)!r}", "pip install pillow, or give the pixels as .npy."
    image = needed("PIL.Image", purpose, fix, error=FeedError, called="Pillow")
    try:
        picture = image.open(path)
    except FileNotFoundError:
        raise FeedError(f"File not found: {str(path)!r}.", slug="no-such-file", fix="check the path.") from None
    except (OSError, ValueError, SyntaxError, image.DecompressionBombError) as error:
        raise _unread(path, error) from None
    if picture.width * picture.height > MAX_PIXELS:
        raise FeedError(
            f"The picture {str(path)!r} has {picture.width:,} x {picture.height:,} pixels; at most {MAX_PIXELS:,} are "
            "read.",
            slug="too-large",
            fix="scale it down first.",
        )
    return picture


def _unread(path: Path, error: Exception) -> FeedError:
    return FeedError(
        f"{str(path)!r} cannot be read as a picture: {error}.", slug="bad-input", fix="give a .png or .jpg file."
    )


def _layout(name: str, type_: TensorType | None) -> tuple[int, bool, int, tuple[int | None, int | None]]:
    """(number of channels, True if channels are first, number of axes, (height, width) if declared)."""
    shape = None if type_ is None else type_.shape
    fits = type_ is None or type_.dtype not in ("string", "opaque", "bool")
    if fits and shape is None:
        return 3, False, 3, (None, None)
    if fits and shape is not None:
        inner = shape[1:] if len(shape) == 4 and shape[0] in (1, None) else shape
        if len(inner) == 2:
            return 1, False, 2, (inner[0], inner[1])
        if len(inner) == 3:
            channels = inner[0]
            if channels in _MODES and inner[2] not in (3, 4):
                return channels, True, len(shape), (inner[1], inner[2])
            channels = 3 if inner[2] is None else inner[2]
            if channels in _MODES:
                return channels, False, len(shape), (inner[0], inner[1])
    declared = "its type is unknown" if type_ is None else f"it takes {type_.words}"
    raise FeedError(
        f"A picture does not fit the input {name!r}: {declared}.",
        slug="bad-input",
        fix="a picture needs axes (height, width), optionally with 1, 3 or 4 channels before or after them and a "
        "batch axis of size 1 first; give other layouts as .npy.",
    )
