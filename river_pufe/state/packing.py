"""How is a matrix stored of which much is not used?"""

from __future__ import annotations

import math
import typing

import numpy as np

from ..values import Array, Mask


def packed(matrix: Array, used: Mask) -> dict[str, typing.Any]:
    """The used entries of a matrix, row by row, and which they are."""
    return {"shape": list(matrix.shape), "used": np.packbits(used), "entries": matrix[used]}


def unpacked(stored: dict[str, typing.Any], fill: float) -> Array:
    """The matrix, with `fill` in place of what is not used."""
    n, most = math.prod(stored["shape"]), 8 * len(stored["used"])
    if not most - 8 < n <= most:
        raise ValueError(f"the state has a matrix of the shape {stored['shape']!r}, of which {most} entries are marked")
    matrix = np.full(stored["shape"], fill)
    matrix[np.unpackbits(stored["used"], count=matrix.size).astype(bool).reshape(matrix.shape)] = stored["entries"]
    return matrix
