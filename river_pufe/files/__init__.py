"""What samples do files and feeds hold?

`Reader` reads csv, JSON lines, LIBSVM and Parquet, compressed or not, from files or a pipe, one sample at a time;
`gather` makes samples of readings that come one sensor at a time. `OneHotStrings` and `guess_task` are for data whose
columns are not known beforehand.

Well-kept libraries do what they can: Python's `csv` and `json`, River's reader of LIBSVM, pyarrow for Parquet. Read
here is what none of them does: errors by line, pipes, headers that are repeated or change, and what stands for an
absent value.
"""

from __future__ import annotations

from .guesses import Suspect, Suspects, guess_task, whole
from .lines import Line
from .opening import STDIN, FileError
from .reader import FORMATS, Reader
from .readings import Gathered, Gathering, Waiting, gather
from .strings import OneHotStrings
from .times import isoformat, timestamp

__all__ = [
    "FORMATS",
    "STDIN",
    "FileError",
    "Gathered",
    "Gathering",
    "Line",
    "OneHotStrings",
    "Reader",
    "Suspect",
    "Suspects",
    "Waiting",
    "gather",
    "guess_task",
    "isoformat",
    "timestamp",
    "whole",
]
