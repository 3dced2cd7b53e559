"""When was that, and how long is a minute? Times and spans as files write them."""

from __future__ import annotations

import datetime
import math
import re
import typing

from ..values import LARGEST, brief

_SPAN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zµ]*)\s*", re.IGNORECASE)
_SECONDS = {
    "ms": 1e-3,
    "s": 1.0, "sec": 1.0, "second": 1.0,
    "min": 60.0, "m": 60.0, "minute": 60.0,
    "h": 3600.0, "hour": 3600.0,
    "d": 86400.0, "day": 86400.0,
}  # fmt: skip
#: Numbers from these on are milliseconds, microseconds, nanoseconds since 1970: as seconds they would be far away.
_EPOCHS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))


def seconds(span: str | float | datetime.timedelta) -> float:
    """A span of time in seconds: ``"500ms"``, ``"30s"``, ``"10min"``, ``"2h"``, ``"1d"``, or a number of seconds.

    Raises
    ------
    ValueError
        If it is not a span of time above 0.

    Examples
    --------
    >>> from river_pufe.files.times import seconds
    >>> seconds("10min"), seconds("1.5h"), seconds(30)
    (600.0, 5400.0, 30.0)

    """
    value: float | None = None
    if isinstance(span, datetime.timedelta):
        value = span.total_seconds()
    elif not isinstance(span, str):
        value = float(span)
    elif found := _SPAN.fullmatch(span):
        unit = found[2].lower()
        unit = unit[:-1] if unit.endswith("s") and len(unit) > 2 else unit
        if unit in _SECONDS or not unit:
            value = float(found[1]) * _SECONDS.get(unit, 1.0)
    if value is None or not 0 < value < math.inf:
        raise ValueError(f"{span!r} is not a span of time: use 30s, 10min, 2h or 1d")
    return value


def timestamp(value: typing.Any) -> float:
    """Seconds since 1970 of a point in time.

    ISO 8601, with or without a zone (UTC then), a number of seconds, milliseconds, microseconds or nanoseconds since
    1970 (its size tells which), or a `datetime`.

    Raises
    ------
    ValueError
        If it is none of these.

    Examples
    --------
    >>> from river_pufe.files.times import timestamp
    >>> timestamp("2024-03-01T12:00:00+01:00"), timestamp("2024-03-01 11:00"), timestamp(1709290800000)
    (1709290800.0, 1709290800.0, 1709290800.0)

    """
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            try:
                value = datetime.datetime.fromisoformat(value.strip().removesuffix(" UTC"))
            except ValueError:
                raise ValueError(
                    f"the time is {brief(value)}: use ISO 8601, like 2024-03-01T12:00:00Z, or seconds since 1970"
                ) from None
    if isinstance(value, datetime.datetime):
        return (value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)).timestamp()
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day, tzinfo=datetime.UTC).timestamp()
    # Neither NaN nor an int beyond the range of floats.
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise ValueError(f"the time is {brief(value)}: use ISO 8601, like 2024-03-01T12:00:00Z, or seconds since 1970")
    return next((value / unit for least, unit in _EPOCHS if abs(value) >= least), float(value))


def is_time(value: typing.Any) -> bool:
    """Whether a value is a point in time as `timestamp` reads it."""
    try:
        timestamp(value)
    except ValueError:
        return False
    return True


def isoformat(when: float) -> str:
    """A time in UTC, as short as it can be, from seconds since 1970."""
    try:
        time = datetime.datetime.fromtimestamp(when, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return repr(when)
    return time.isoformat(timespec="seconds" if when == int(when) else "milliseconds").replace("+00:00", "Z")
