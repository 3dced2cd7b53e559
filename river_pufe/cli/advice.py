"""What is wrong with a value, and what is the cure?"""

from __future__ import annotations

import re
import shlex
import typing
from collections.abc import Mapping

from ..files.tables import ABSENT_WORDS
from ..files.times import is_time
from ..values import brief, number

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def bad_feature(x: Mapping[typing.Any, typing.Any], share_of_numbers: Mapping[typing.Any, float]) -> str | None:
    """What is wrong with the first feature that is not a finite number, and how to go on; None if all are.

    Parameters
    ----------
    x
        Features by name.
    share_of_numbers
        How often each of them was a number so far, as far as that is known.

    """
    for name, value in x.items():
        try:
            number(name, value)
        except ValueError:
            cure = _cure(name, value, share_of_numbers.get(name, 0.0))
            kind = "finite number" if isinstance(value, float) else "number"
            return f"{brief(name)} is {brief(value)}, which is not a {kind}: {cure}"
    return None


def bad_target(name: str, y: typing.Any, classifies: bool) -> str:
    """What is wrong with a target, and how to go on."""
    kind = "class" if classifies else "finite number" if isinstance(y, float) else "number"
    cures = "(see --task)"
    if isinstance(y, str):
        cures = f"if it stands for an absent one, say --na {_quoted(y)}; if it is a class, --task classification"
        if _DECIMAL_COMMA.fullmatch(y):
            cures = "say --decimal-comma"
    return f"the target {name!r} is {brief(y)}, which is not a {kind}: {cures}"


def _cure(name: typing.Any, value: typing.Any, share: float) -> str:
    if isinstance(value, float | int):
        return f"say --na {value}, if it stands for an absent value"
    if isinstance(value, list | dict):
        return f"say --ignore {_quoted(name)}, or write one value under each name"
    if not isinstance(value, str):
        return f"say --ignore {_quoted(name)}, or --time {_quoted(name)} if it is when the sample was taken"
    if value.lower() in ABSENT_WORDS:
        return f"say --na {_quoted(value)}, if it stands for an absent value"
    if _DECIMAL_COMMA.fullmatch(value):
        return "say --decimal-comma"
    if share >= 0.5:
        absent = f"so say --na {_quoted(value)} if it stands for an absent value"
        return f"most values of {brief(name)} are numbers, {absent}"
    if is_time(value):
        return f"say --time {_quoted(name)} if it is when the sample was taken, or --ignore {_quoted(name)}"
    return f"say --one-hot to encode it, or --ignore {_quoted(name)}"


def _quoted(value: typing.Any) -> str:
    """As it must be typed in a shell; cut where nobody would type it."""
    typed = str(value)
    return shlex.quote(typed) if len(typed) <= 100 else shlex.quote(typed[:99] + "…")
