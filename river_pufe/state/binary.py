"""How is a state written in bytes?"""

from __future__ import annotations

import json
import math
import struct
import typing
import zlib

import numpy as np

from .objects import FORMAT, build, check_dtype, checked, explained, to_plain
from .packing import check_shape

_SIGNATURE = b"\x89pufe\r\n\x1a"
#: Signature, number of the format, checksum of all that follows, length of the text.
_HEADER = struct.Struct("<8sIIQ")


def dumps(value: typing.Any, pickles: bool = False) -> bytes:
    """An object as bytes.

    Parameters
    ----------
    value
        A model or a part of this package, or a container of them.
    pickles
        Whether objects of other packages, such as wrapped models of River, are stored as pickles.

    Raises
    ------
    ValueError
        If an object is not of this package, and pickles are not allowed.

    Examples
    --------
    >>> from river_pufe import PUFEClassifier, state
    >>> model = PUFEClassifier()
    >>> model.learn_one({"a": 1.0}, True)
    >>> restored = state.loads(state.dumps(model))
    >>> restored.predict_proba_one({"a": 1.0}) == model.predict_proba_one({"a": 1.0})
    True

    """
    buffers: list[bytes] = []
    size = 0

    def store(content: np.ndarray[typing.Any, typing.Any] | bytes) -> dict[str, typing.Any]:
        nonlocal size
        start = size
        if isinstance(content, bytes):
            buffers.append(content)
            size += len(content)
            return {"bytes": [start, len(content)]}
        order = "C" if content.flags.c_contiguous else "F"
        buffers.append(content.tobytes(order))  # type: ignore[arg-type]
        size += content.nbytes
        return {"array": [content.dtype.str, content.shape, order, start]}

    text = json.dumps(to_plain(value, pickles), default=store, separators=(",", ":")).encode()
    body = b"".join((text, *buffers))
    return _HEADER.pack(_SIGNATURE, FORMAT, zlib.crc32(body), len(text)) + body


def loads(data: bytes, trusted: bool = False) -> typing.Any:
    """The object that was written as bytes.

    Parameters
    ----------
    data
        What `dumps` returned.
    trusted
        Whether the source is trusted: pickles, which can run any code, are loaded then, and nothing is checked.

    Raises
    ------
    ValueError
        If the bytes are not a state, are damaged, or come from a later version.

    """
    if len(data) < _HEADER.size or data[: len(_SIGNATURE)] != _SIGNATURE:
        raise ValueError("these bytes are not a state of river_pufe")
    _, version, checksum, length = _HEADER.unpack_from(data)
    if version > FORMAT:
        raise ValueError(f"the state has format {version}, which a later version of river_pufe reads: update it")
    if zlib.crc32(memoryview(data)[_HEADER.size :]) != checksum:
        raise ValueError("the state is damaged: its checksum is wrong")
    start = _HEADER.size + length
    buffers = memoryview(data)[start:]

    def restore(node: dict[str, typing.Any]) -> typing.Any:
        word = next(iter(node), None)
        if word == "array":
            return _array(buffers, *node["array"])
        if word == "bytes":
            return bytes(_slice(buffers, *node["bytes"]))
        return build(node, trusted)

    with explained():
        return checked(json.loads(bytes(memoryview(data)[_HEADER.size : start]), object_hook=restore), trusted)


def _array(
    buffers: memoryview, name: str, shape: list[int], order: typing.Literal["C", "F"], offset: int
) -> typing.Any:
    dtype = np.dtype(check_dtype(name))
    check_shape(shape)
    content = _slice(buffers, offset, math.prod(shape) * dtype.itemsize)
    return np.frombuffer(content, dtype).reshape(shape, order=order).copy(order="K")


def _slice(buffers: memoryview, offset: int, n: int) -> memoryview:
    if type(offset) is not int or type(n) is not int:
        raise ValueError(f"the state has an array at {offset!r}")
    if not 0 <= offset <= offset + n <= len(buffers):
        raise ValueError("the state is damaged: it ends too early")
    return buffers[offset : offset + n]
