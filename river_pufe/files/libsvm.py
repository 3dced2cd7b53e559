"""What samples does a file in LIBSVM format hold? River's own reader, line by line, so that a bad one ends nothing."""

from __future__ import annotations

import io
import re
import typing
from collections.abc import Iterable, Iterator

from river import stream

from .cells import Cells
from .lines import Line

#: The name that the label of a line is given.
LABEL = "label"

_LINE = re.compile(r"[+-]?\d+(\.\d*)?(\s+[^\s:#]+:[^\s:]+)+\s*(#.*)?$")


def read(lines: Iterable[str], cells: Cells) -> Iterator[Line]:
    """The samples: the label under the name ``"label"``, and the features that are there; those left out are 0."""
    for number, text in enumerate(lines, start=1):
        text = text.partition("#")[0].strip()
        if not text:
            continue
        try:
            yield Line(number, cells.flat(_record(text)))
        except ValueError as error:
            yield Line(number, error=f"is not LIBSVM, a label and name:value pairs: {error}")


def _record(text: str) -> dict[str, typing.Any]:
    label, *pairs = text.split()
    if ":" in label:
        raise ValueError("it has no label")
    if not pairs:
        # River's reader needs a feature, but where all are zero there is none.
        return {LABEL: label}
    x, _ = next(stream.iter_libsvm(io.StringIO(" ".join([label, *pairs])), target_type=str))
    return {LABEL: label} | {str(name): value for name, value in x.items()}


def looks_like(line: str) -> bool:
    """Whether a line is a label followed by pairs of a name and a value."""
    return _LINE.match(line.strip()) is not None
