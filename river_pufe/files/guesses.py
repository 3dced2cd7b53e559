"""What do the first lines say: is the target a class or a number, and which values are none?"""

from __future__ import annotations

import collections
import dataclasses
import random
import typing
from collections.abc import Collection, Iterable, Mapping

from ..values import LARGEST
from .tables import ABSENT_WORDS

#: Largest number of different whole numbers that are taken for classes.
_CLASSES = 10


def whole(value: typing.Any) -> typing.Any:
    """A value in which whole numbers are ints, whatever the file made of them: a class, or a time."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def guess_task(targets: Collection[typing.Any]) -> str | None:
    """Whether targets are classes or numbers, by the majority of them.

    Strings and truth values are classes, fractions are numbers. Whole numbers are classes if there are no more than
    ten different ones.

    Returns
    -------
    ``"classification"`` or ``"regression"``; None without any target.

    Examples
    --------
    >>> from river_pufe import files
    >>> files.guess_task(["spam", "ham"]), files.guess_task([1, 2, 2.5]), files.guess_task([0, 1, 1])
    ('classification', 'regression', 'classification')
    >>> files.guess_task(["unknown", 20.5, 21.0, 20.7])
    'regression'

    """
    if not targets:
        return None
    numbers = [y for y in targets if isinstance(y, int | float) and not isinstance(y, bool)]
    if 2 * len(numbers) <= len(targets):
        return "classification"
    if not all(isinstance(y, int) or y.is_integer() for y in numbers) or len(set(numbers)) > _CLASSES:
        return "regression"
    return "classification"


@dataclasses.dataclass(frozen=True)
class Suspect:
    """A value that occurs so often that it may stand for an absent one.

    Parameters
    ----------
    key
        Where it occurs.
    value
        The value.
    share
        Share of the values of the key that it is.

    """

    key: typing.Any
    value: typing.Any
    share: float


class Suspects:
    """Values that may stand for absent ones, such as -200, -9999 or ``"unknown"``.

    A number is suspect if it is whole, beyond all others of its key by more than their range, and occurs at least
    three times and in 0.5 % of the samples; a string, if it is a usual word for an absent value, among numbers or not.

    Of a long stream ever fewer samples are looked at, about a thousand each time its length doubles, and about a
    thousand values of a key are kept, so that memory is O(number of keys).

    Examples
    --------
    >>> from river_pufe.files.guesses import Suspects
    >>> suspects = Suspects()
    >>> for t in range(200):
    ...     suspects.update({"CO": -200.0 if t % 20 == 0 else 2.0 + t / 100})
    >>> suspects.found
    [Suspect(key='CO', value=-200.0, share=0.05)]

    """

    _ENOUGH = 1000

    def __init__(self) -> None:
        self._counts: dict[typing.Any, collections.Counter[typing.Any]] = {}
        # At random, since a regular stride would miss what happens at regular times.
        self._rng = random.Random(0)
        self._stride = 1
        self._skip = self._seen = 0

    @property
    def due(self) -> bool:
        """Whether the next sample is looked at."""
        return not self._skip

    def skip(self) -> None:
        """Leave a sample out that is not due."""
        self._skip -= 1

    def update(self, x: Mapping[typing.Any, typing.Any]) -> None:
        """Take a sample into account."""
        if self._skip:
            self.skip()
            return
        self._skip = self._rng.randrange(2 * self._stride - 1)
        self._seen += 1
        if self._seen == self._ENOUGH:
            self._seen, self._stride = 0, 2 * self._stride
        for key, value in x.items():
            # A list is no value, but what looks at spaces alone may meet one.
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                continue
            counts = self._counts.get(key)
            if counts is None:
                if len(self._counts) >= self._ENOUGH:
                    continue
                counts = self._counts[key] = collections.Counter()
            counts[value] += 1
            if len(counts) > 2 * self._ENOUGH:
                # Those that occur often, and the extremes of the others as they are.
                self._counts[key] = collections.Counter(dict(counts.most_common(self._ENOUGH)))

    @property
    def found(self) -> list[Suspect]:
        """The suspects, key by key."""
        return [suspect for key, counts in self._counts.items() for suspect in _suspects(key, counts)]


def _suspects(key: typing.Any, counts: collections.Counter[typing.Any]) -> Iterable[Suspect]:
    total = counts.total()
    for value, n in counts.items():
        if isinstance(value, str) and value.lower() in ABSENT_WORDS:
            yield Suspect(key, value, n / total)
    # An int may be beyond the range of floats.
    numbers = sorted(value for value in counts if isinstance(value, int | float) and abs(value) <= LARGEST)
    if len(numbers) < 4:
        return
    for extreme, low, high in ((numbers[0], numbers[1], numbers[-1]), (numbers[-1], numbers[0], numbers[-2])):
        gap = low - extreme if extreme < low else extreme - high
        often = counts[extreme] >= max(3, 0.005 * total)
        if often and float(extreme).is_integer() and abs(extreme) >= 9 and gap > high - low:
            yield Suspect(key, extreme, counts[extreme] / total)
