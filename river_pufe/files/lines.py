"""What is found at a place of a file: a sample, a fault, or something worth telling?"""

from __future__ import annotations

import dataclasses

from .cells import Record


@dataclasses.dataclass(slots=True)
class Line:
    """A line of a file, or a row of a table.

    Parameters
    ----------
    number
        Where it begins, counted from 1.
    record
        Values by name; what is absent is left out.
    error
        What is wrong with it; empty if it is a sample.
    note
        What was found instead of a sample, such as a repeated header; empty if it is a sample.
    file
        Name of the file.

    """

    number: int
    record: Record = dataclasses.field(default_factory=dict)
    error: str = ""
    note: str = ""
    file: str = ""
