"""How is a matrix stored of which much is not used?"""

from __future__ import annotations

import math
import typing

import numpy as np

from ..values import Array, Mask

#: So long may be a side of an array that has no entries, and so no size in the state; a model has fewer keys.
_LONGEST = 10**6


def check_shape(shape: list[int]) -> None:
    """Raise a ValueError if arrays do not have such shapes, or if one would ask for memory although it is empty."""
    if not all(type(n) is int and n >= 0 for n in shape) or max(shape, default=0) > max(math.prod(shape), _LONGEST):
        raise ValueError(f"the state has an array of the shape {shape!r}")


def packed(matrix: Array, used: Mask) -> dict[str, typing.Any]:
    """The used entries of a matrix, row by row, and which they are."""
    return {"shape": list(matrix.shape), "used": np.packbits(used), "entries": matrix[used]}


def unpacked(stored: dict[str, typing.Any], fill: float) -> Array:
    """The matrix, with `fill` in place of what is not used."""
    check_shape(stored["shape"])
    n, most = math.prod(stored["shape"]), 8 * len(stored["used"])
    if not most - 8 < n <= most:
        raise ValueError(f"the state has a matrix of the shape {stored['shape']!r}, of which {most} entries are marked")
    matrix = np.full(stored["shape"], fill)
    matrix[np.unpackbits(stored["used"], count=matrix.size).astype(bool).reshape(matrix.shape)] = stored["entries"]
    return matrix
