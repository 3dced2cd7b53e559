"""Does a column hold numbers or strings, and what is wrong with a value that is the other?"""

from __future__ import annotations

import typing
from collections.abc import Mapping

from .. import files
from ..plot.record import Presence
from . import advice


class Kinds:
    """What is known about the kinds of values in each column.

    Parameters
    ----------
    shares
        Share of numbers among the first values of each column, as far as that is known.

    """

    def __init__(self, shares: Mapping[typing.Any, float]) -> None:
        self._shares = shares

    def strings_as_such(self, x: dict[typing.Any, typing.Any]) -> dict[typing.Any, typing.Any]:
        """A sample that is to be encoded: a number in a column of strings is a string.

        Raises
        ------
        ValueError
            If there is a string in a column of numbers.

        """
        checked = {}
        for name, value in x.items():
            share = self._shares.get(name)
            if share is not None and share > 0.5 and isinstance(value, str):
                raise ValueError(advice.bad_feature({name: value}, self._shares))
            is_string = share is not None and share < 0.5 and not isinstance(value, str | bool)
            checked[name] = str(files.whole(value)) if is_string else value
        return checked

    def complaint(self, x: Mapping[typing.Any, typing.Any], record: Presence) -> str:
        """What is wrong with a sample that a model refused, and how to go on.

        Parameters
        ----------
        x
            The sample.
        record
            When each feature was there: what was learned were numbers.

        """
        n = max(record.rounds - record.start, 1)
        learned = {key: record.seen(key)[2] / n for key in record.keys}
        return advice.bad_feature(x, {**learned, **self._shares}) or "it cannot be read"
