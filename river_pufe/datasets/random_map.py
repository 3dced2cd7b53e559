"""How is a feature space made out of another one, without knowing the samples to come?"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import numpy as np
from river import preprocessing
from river.base.typing import FeatureName

from .evolving import Features


def to_numbers(x: Features) -> dict[FeatureName, float]:
    """The features of a sample as floats, those that are absent left out.

    Examples
    --------
    >>> to_numbers({"rain": True, "wind": 2, "sun": None, "haze": float("nan")})
    {'rain': 1.0, 'wind': 2.0}

    >>> to_numbers({"wind": "strong"})
    Traceback (most recent call last):
        ...
    ValueError: feature 'wind' is 'strong', which is not a finite number: encode it first, for instance with
    preprocessing.OneHotEncoder

    """
    numbers = {}
    for name, value in x.items():
        if value is None:
            continue
        try:
            # A string of digits is a name as often as it is a number, so it is not converted.
            number = math.inf if isinstance(value, str | bytes) else float(value)
        except (TypeError, ValueError):
            number = math.inf
        if math.isinf(number):
            raise ValueError(
                f"feature {name!r} is {value!r}, which is not a finite number: encode it first, "
                "for instance with preprocessing.OneHotEncoder"
            )
        if not math.isnan(number):
            numbers[name] = number
    return numbers


class RandomMap:
    """An affine map with random coefficients, of features standardized by what was seen of them so far.

    Parameters
    ----------
    scaler
        Has seen the features. What it sees later does not change the map.
    names
        Names of the images.
    rng
        Draws the coefficients, so that an image of uncorrelated features has a variance of 1.

    """

    def __init__(self, scaler: preprocessing.StandardScaler, names: list[str], rng: random.Random) -> None:
        self._names = names
        self._means = dict(scaler.means)
        deviations = [math.sqrt(scaler.vars[name]) or 1.0 for name in self._means]
        scale = 1 / math.sqrt(max(1, len(deviations)))
        self._coefficients = np.array(
            [[rng.gauss(0, scale) / deviation for _ in names] for deviation in deviations]
        ).reshape(len(deviations), len(names))

    def __call__(self, numbers: Mapping[FeatureName, float]) -> dict[FeatureName, float]:
        deviations = np.array([numbers.get(name, mean) - mean for name, mean in self._means.items()])
        return dict(zip(self._names, (deviations @ self._coefficients).tolist()))
