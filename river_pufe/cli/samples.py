"""Which samples does the user see in the lines of a file: target, time and features?"""

from __future__ import annotations

import collections
import dataclasses
import math
import typing
from collections.abc import Collection, Iterator, Sequence

from .. import files


@dataclasses.dataclass(slots=True)
class Row:
    """A sample, or what was found in its place.

    Parameters
    ----------
    line
        Number of the line; 0 if the file is at fault as a whole.
    x
        Features by name.
    y
        The target, None if it is absent.
    when
        The time, as it is written in the file.
    at
        The time in seconds since 1970, None if it cannot be read.
    error
        What is wrong; empty if it is a sample.
    note
        What was found instead of a sample; empty if it is one.
    warning
        What is strange about a sample.
    file
        Name of the file, where there are several.
    key
        Which model it is for, where there is one for each key.

    """

    line: int
    x: dict[typing.Any, typing.Any] = dataclasses.field(default_factory=dict)
    y: typing.Any = None
    when: typing.Any = None
    at: float | None = None
    error: str = ""
    note: str = ""
    warning: str = ""
    file: str = ""
    key: typing.Any = None

    @property
    def place(self) -> str:
        """Where it is, for messages."""
        return f"{self.file} line {self.line}" if self.file else f"line {self.line}"


@dataclasses.dataclass(frozen=True)
class Long:
    """How readings in the long format are gathered.

    Parameters
    ----------
    columns
        Names of the columns of the time, of the sensor (one or more, joined by dots) and of the value.
    every, aggregate, hold, lateness, wait
        As `files.gather` takes them.

    """

    columns: tuple[str, ...]
    every: str
    aggregate: str = "last"
    hold: str | None = None
    lateness: str | None = None
    wait: str | None = None


class Samples:
    """The lines of a reader as samples, one at a time.

    Parameters
    ----------
    reader
        What reads the lines.
    target
        Name of the target, None if there is none.
    ignore
        Names that are not features.
    time
        Name of the column of the time; in the long format that is the first column.
    long
        How readings are gathered, None where each line is a sample.
    key
        Name of the column of the key, None if there is none.

    Attributes
    ----------
    skipped
        How many lines were something else than a sample, or strange, by what they were.
    n_readings
        Number of readings, in the long format.

    """

    def __init__(
        self,
        reader: files.Reader,
        target: str | None = None,
        ignore: Collection[str] = (),
        time: str | None = None,
        long: Long | None = None,
        key: str | None = None,
    ) -> None:
        self._reader, self._target, self._ignore, self._time, self._long = reader, target, tuple(ignore), time, long
        self._key = key
        self._latest = -math.inf
        self._before: typing.Any = None
        self.skipped: collections.Counter[str] = collections.Counter()
        self.n_readings = 0

    @property
    def columns(self) -> Sequence[str]:
        """Names of the columns that the user names, which a file with a header must have."""
        wide = [self._target, self._time, self._key, *self._ignore]
        names = [*self._long.columns] if self._long is not None else wide
        return [name for name in names if name is not None]

    def __iter__(self) -> Iterator[Row]:
        try:
            yield from self._readings(self._long) if self._long is not None else self._rows()
        except files.FileError as error:
            yield Row(0, error=str(error))

    def _rows(self) -> Iterator[Row]:
        target, time, key, ignore = self._target, self._time, self._key, self._ignore
        for line in self._reader:
            record = line.record
            row = Row(line.number, record, error=line.error, file=line.file)
            if line.note:
                row.note = self._noted(line)
            if target is not None:
                row.y = record.pop(target, None)
            if key is not None:
                row.key = files.whole(record.pop(key, None))
            for name in ignore:
                record.pop(name, None)
            if time is not None and (when := record.pop(time, None)) is not None:
                self._set_time(row, files.whole(when))
            yield row

    def _noted(self, line: files.Line) -> str:
        if line.note:
            kind = line.note.partition(":")[0]
            if kind != "next file":
                self.skipped[kind] += 1
        return line.note

    def _set_time(self, row: Row, when: typing.Any) -> None:
        row.when = when
        try:
            row.at = files.timestamp(when)
        except ValueError:
            return
        if row.at < self._latest:
            self.skipped["step back in time"] += 1
            row.warning = f"time runs backwards: {when} after {self._before}"
        self._latest, self._before = row.at, when

    def _readings(self, long: Long) -> Iterator[Row]:
        gathering = files.Gathering(long.every, long.aggregate, long.hold, long.lateness)
        waiting = files.Waiting(gathering.every, self._target, long.wait)
        time, *names, column = long.columns
        row, now = Row(0), -math.inf
        for line in self._reader:
            row = Row(line.number, error=line.error, note=self._noted(line), file=line.file)
            record = line.record
            if row.error or row.note:
                yield row
                continue
            value, parts = record.get(column), [record.get(name) for name in names]
            if value is None:
                self.skipped["reading without a value"] += 1
                continue
            try:
                when = files.timestamp(record.get(time))
                if None in parts:
                    missing = names[parts.index(None)]
                    raise ValueError(f"it has no {missing!r}, which names the sensor")
            except ValueError as error:
                row.error = str(error)
                yield row
                continue
            self.n_readings += 1
            sensor = ".".join(str(files.whole(part)) for part in parts)
            now = max(now, when)
            if sensor == self._target:
                waiting.learn(when, value)
            elif sensor not in self._ignore:
                waiting.push(gathering.add(when, sensor, value))
            for sample, y in waiting.ready(now - gathering.lateness):
                yield self._gathered(row, sample, y)
            self._count(gathering, waiting)
        waiting.push(gathering.flush())
        for sample, y in waiting.ready(math.inf):
            yield self._gathered(row, sample, y)
        self._count(gathering, waiting)

    def _count(self, gathering: files.Gathering, waiting: files.Waiting) -> None:
        self.skipped["late reading"] = gathering.n_late
        self.skipped["duplicate reading"] = gathering.n_duplicates
        self.skipped["target without other readings"] = waiting.n_alone

    def _gathered(self, row: Row, sample: files.Gathered, y: typing.Any) -> Row:
        when = files.isoformat(sample.start)
        return Row(row.line, dict(sample.x), y, when, sample.start, file=row.file)
