"""How do strings become numbers?"""

from __future__ import annotations

import typing

from river import base


class OneHotStrings(base.Transformer):
    """One key ``"name=value"`` for each string of a key: 1 for the string that is there, 0 for the others.

    Where a key is absent, all of its keys are: that nothing was reported does not mean that it was none of the known
    strings. `river.preprocessing.OneHotEncoder` does not tell the two apart; it also encodes numbers.

    **When to use it.** In front of an estimator, for a few keys with a few strings each. Strings beyond `max_strings`
    are encoded as none of the others, so names and ids do neither harm nor good.

    Both methods cost O(number of keys that come out), and memory is O(keys · `max_strings`).

    Parameters
    ----------
    max_strings
        Number of strings of a key that get a key of their own.

    Examples
    --------
    >>> from river_pufe import files
    >>> encoder = files.OneHotStrings()
    >>> for city in ("Rome", "Oslo"):
    ...     encoder.learn_one({"city": city, "rain": 1.5})
    >>> encoder.transform_one({"city": "Rome", "rain": 0.5})
    {'city=Rome': 1.0, 'city=Oslo': 0.0, 'rain': 0.5}
    >>> encoder.transform_one({"rain": 0.5})
    {'rain': 0.5}

    """

    def __init__(self, max_strings: int = 50) -> None:
        if not max_strings >= 1:
            raise ValueError(f"max_strings is a number of strings, 1 or more, not {max_strings!r}")
        self.max_strings = max_strings
        self._known: dict[typing.Hashable, dict[str, str]] = {}

    def learn_one(self, x: dict[typing.Hashable, typing.Any]) -> None:
        """Learn which strings a sample has."""
        for key, value in x.items():
            if isinstance(value, str):
                known = self._known.setdefault(key, {})
                if value not in known and len(known) < self.max_strings:
                    known[value] = f"{key}={value}"

    def transform_one(self, x: dict[typing.Hashable, typing.Any]) -> dict[typing.Hashable, typing.Any]:
        """The sample with its strings encoded."""
        encoded: dict[typing.Hashable, typing.Any] = {}
        for key, value in x.items():
            if isinstance(value, str):
                encoded.update((name, float(text == value)) for text, name in self._known.get(key, {}).items())
            else:
                encoded[key] = value
        return encoded
