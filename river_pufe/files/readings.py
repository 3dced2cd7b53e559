"""How do readings, one sensor at a time, become samples?"""

from __future__ import annotations

import dataclasses
import datetime
import math
import typing
from collections.abc import Hashable, Iterable, Iterator

from .times import seconds, timestamp

AGGREGATES = ("last", "mean")
#: Intervals for which a value may hold.
_HELD = 100_000
#: Number of targets that wait for their samples, which may never come.
_MOST = 100_000

Span = str | float | datetime.timedelta
Reading = tuple[typing.Any, Hashable, typing.Any]


@dataclasses.dataclass(slots=True)
class Gathered:
    """The sample of an interval.

    Parameters
    ----------
    start
        When the interval begins, in seconds since 1970.
    x
        Values by sensor.

    """

    start: float
    x: dict[Hashable, typing.Any]


class Gathering:
    """Gathers readings into samples, interval by interval, in one pass.

    An interval is over once a reading has come that is later than its end by more than the allowance for lateness.
    Then there is a sample, of all sensors that reported in it; an interval without any reading makes none. Readings may
    come in any order within the allowance. Equal ones that come twice count once; what comes after its interval is over
    is counted, and left out.

    A reading costs O(1), a sample O(number of sensors). Memory is O(sensors · intervals within the allowance).

    Parameters
    ----------
    every
        Length of the intervals: ``"30s"``, ``"1min"``, or a number of seconds.
    aggregate
        ``"last"``: the latest value of the interval. ``"mean"``: the mean of its values, where they are numbers.
    hold
        How long a value holds if nothing new is reported; for sensors that report on change. By default only in its
        interval. As long as any value holds, there is a sample for each interval.
    lateness
        How much later than others a reading may come.

    Attributes
    ----------
    n_late
        Number of readings that came too late.
    n_duplicates
        Number of readings that came twice.

    Raises
    ------
    ValueError
        If a span of time is not above 0, `hold` is more than 100,000 times `every`, or `aggregate` is unknown.

    Examples
    --------
    >>> from river_pufe.files.readings import Gathering
    >>> gathering = Gathering("1min")
    >>> gathering.add(5.0, "heat", 20.5), gathering.add(50.0, "wind", 3.0)
    ([], [])
    >>> gathering.add(61.0, "heat", 21.0)
    [Gathered(start=0.0, x={'heat': 20.5, 'wind': 3.0})]

    """

    def __init__(
        self, every: Span, aggregate: str = "last", hold: Span | None = None, lateness: Span | None = None
    ) -> None:
        if aggregate not in AGGREGATES:
            raise ValueError(f"aggregate is one of {', '.join(AGGREGATES)}, not {aggregate!r}")
        self.every = seconds(every)
        self.aggregate = aggregate
        self.hold = 0.0 if hold is None else seconds(hold)
        self.lateness = 0.0 if lateness is None else seconds(lateness)
        if self.hold > _HELD * self.every:
            raise ValueError(f"hold is more than {_HELD:,} intervals, and each makes a sample: let every be longer")
        self.n_late = self.n_duplicates = 0
        self._open: dict[int, dict[Hashable, _Values]] = {}
        self._latest = -math.inf
        # Number of the first interval that is not over, and the values that hold, with their times.
        self._next: int | None = None
        self._held: dict[Hashable, tuple[float, typing.Any]] = {}

    def add(self, when: float, sensor: Hashable, value: typing.Any) -> list[Gathered]:
        """Take a reading; the samples of the intervals that are over now, oldest first.

        Parameters
        ----------
        when
            Its time in seconds since 1970.
        sensor
            Which sensor it is of.
        value
            What the sensor read.

        """
        interval = math.floor(when / self.every)
        if self._next is not None and interval < self._next:
            self.n_late += 1
            return []
        values = self._open.setdefault(interval, {})
        if sensor not in values:
            values[sensor] = _Values(when, value)
        elif not values[sensor].add(when, value):
            self.n_duplicates += 1
        if when <= self._latest:
            return []
        self._latest = when
        return self._close(math.floor((when - self.lateness) / self.every))

    def flush(self) -> list[Gathered]:
        """The samples of all intervals that are left, at the end of the readings."""
        return self._close(max(self._open) + 1) if self._open else []

    def _close(self, end: int) -> list[Gathered]:
        if not self._open or (self._next is not None and end <= self._next):
            return []
        samples = []
        number = min(self._open) if self._next is None else self._next
        while number < end:
            values = self._open.pop(number, {})
            x = {sensor: found.last if self.aggregate == "last" else found.mean for sensor, found in values.items()}
            if self.hold:
                self._held.update((sensor, (found.when, found.last)) for sensor, found in values.items())
                over = (number + 1) * self.every - self.hold
                self._held = {sensor: held for sensor, held in self._held.items() if held[0] > over}
                x |= {sensor: value for sensor, (_, value) in self._held.items() if sensor not in x}
            if x:
                samples.append(Gathered(number * self.every, x))
            number += 1
            if not x:
                # Nothing holds any more: on to the next interval with a reading.
                number = max(number, min(self._open, default=end))
        self._next = end if self._next is None else max(self._next, end)
        return samples


class _Values:
    """The values of a sensor in an interval."""

    __slots__ = ("last", "n", "total", "when")

    def __init__(self, when: float, value: typing.Any) -> None:
        self.when, self.last, self.n = when, value, 1
        self.total = value

    def add(self, when: float, value: typing.Any) -> bool:
        """Take another value into account; False if it is the latest one again."""
        if when == self.when and value == self.last:
            return False
        if _is_number(value) and _is_number(self.total):
            self.total += value
            self.n += 1
        else:
            self.total, self.n = value, 1
        if when >= self.when:
            self.when, self.last = when, value
        return True

    @property
    def mean(self) -> typing.Any:
        return self.total / self.n if _is_number(self.total) else self.last


def _is_number(value: typing.Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def gather(
    readings: Iterable[Reading],
    every: Span,
    target: Hashable = None,
    aggregate: str = "last",
    hold: Span | None = None,
    lateness: Span | None = None,
    wait: Span | None = None,
) -> Iterator[tuple[dict[Hashable, typing.Any], typing.Any]]:
    """Samples and targets from readings ``(time, sensor, value)``, as a River stream.

    **When to use it.** For feeds in the long format, one sensor at a time: MQTT, InfluxDB, Home Assistant, OpenAQ. The
    sensors may report at different times and rates, slightly out of order, and twice.

    A reading costs O(1), a sample O(number of sensors). Memory is O(sensors · intervals), of the intervals within
    `lateness` and `wait`.

    Parameters
    ----------
    readings
        Tuples of a time (ISO 8601, seconds since 1970, or a `datetime`), a sensor and a value.
    every
        Length of the intervals: ``"30s"``, ``"1min"``, or a number of seconds.
    target
        The sensor to predict: its value of an interval is the target, and not among the features. By default there is
        none, and all targets are None.
    aggregate
        ``"last"`` or ``"mean"`` of the values of an interval.
    hold
        How long a feature holds if nothing new is reported; a target does not hold.
    lateness
        How much later than others a reading may come.
    wait
        How much later than others the target may come: a sample is held back until its target is there or this time
        is over. Readings of the target still need the time of the interval that they belong to.

    Yields
    ------
    Features by sensor, and the target, None if it did not come.

    Raises
    ------
    ValueError
        If a time cannot be read, or a span of time is not above 0.

    Examples
    --------
    >>> from river_pufe import files
    >>> readings = [
    ...     ("2024-03-01T12:00:05Z", "heat", 20.5),
    ...     ("2024-03-01T12:00:50Z", "power", 310.0),
    ...     ("2024-03-01T12:00:40Z", "wind", 3.0),
    ...     ("2024-03-01T12:01:10Z", "heat", 21.0),
    ... ]
    >>> list(files.gather(readings, "1min", target="power"))
    [({'heat': 20.5, 'wind': 3.0}, 310.0), ({'heat': 21.0}, None)]

    """
    features = Gathering(every, aggregate, hold, lateness)
    waiting = Waiting(features.every, target, wait)
    for time, sensor, value in readings:
        when = timestamp(time)
        if target is not None and sensor == target:
            waiting.learn(when, value)
        else:
            waiting.push(features.add(when, sensor, value))
        yield from ((sample.x, y) for sample, y in waiting.ready(when - features.lateness))
    waiting.push(features.flush())
    yield from ((sample.x, y) for sample, y in waiting.ready(math.inf))


class Waiting:
    """Samples that wait for their targets, and targets that wait for their samples.

    Parameters
    ----------
    every
        Length of the intervals in seconds.
    target
        The sensor that is the target; None if there is none.
    wait
        How long a sample waits for its target.

    Attributes
    ----------
    n_alone
        Number of targets in whose interval no other sensor reported.

    """

    def __init__(self, every: float, target: Hashable, wait: Span | None) -> None:
        self._every, self._has_target = every, target is not None
        self._wait = 0.0 if wait is None else seconds(wait)
        self._samples: list[Gathered] = []
        self._targets: dict[int, tuple[float, typing.Any]] = {}
        self.n_alone = 0

    def push(self, samples: Iterable[Gathered]) -> None:
        """Take the samples of intervals that are over."""
        self._samples += samples

    def learn(self, when: float, value: typing.Any) -> None:
        """Take a reading of the target; the latest of an interval counts."""
        interval = math.floor(when / self._every)
        if interval not in self._targets or self._targets[interval][0] <= when:
            self._targets[interval] = when, value
            if len(self._targets) > _MOST:
                del self._targets[next(iter(self._targets))]

    def ready(self, now: float) -> Iterator[tuple[Gathered, typing.Any]]:
        """The samples that have their target, or have waited long enough, oldest first, with their targets."""
        while self._samples:
            sample = self._samples[0]
            interval = round(sample.start / self._every)
            is_late = now >= sample.start + self._every + self._wait
            if self._has_target and interval not in self._targets and not is_late:
                return
            del self._samples[0]
            _, y = self._targets.pop(interval, (0.0, None))
            # Targets of intervals before this one have no sample.
            for earlier in [number for number in self._targets if number < interval]:
                del self._targets[earlier]
                self.n_alone += 1
            yield sample, y
        if now == math.inf:
            self.n_alone += len(self._targets)
            self._targets.clear()
