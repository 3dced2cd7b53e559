"""What would the features that are absent or gone read now?"""

from __future__ import annotations

import dataclasses
import math
import typing

import numpy as np
from river import base

from .completion import Completion, ConditionalMean
from .linear_map import Affine, LinearMap
from .scaling import RowScaler
from .sketch import Array, FrequentDirections
from .spaces import Event, Evolution, FeatureSpace, FeatureSpaces, Key, Mask, Row, Sample, number

#: Views of a sample, the rows of what `FeatureRecovery.views` returns.
PRESENT, COMPLETED, FRESH = range(3)


@dataclasses.dataclass
class _Retired:
    """Vanished keys of a retired space, and how they follow from the slots that are left."""

    keys: tuple[Key, ...]
    mean: Array
    deviation: Array
    recover: Affine | None


class FeatureRecovery(base.Transformer):
    """Complete what is absent and recover what is gone, from what is there.

    **When to use it.** In front of a model that was trained on features that come and go: `FeatureRecovery() | model`
    keeps the model alive when its features vanish. It needs no label; the estimators of this package have one inside.

    `learn_one` finds the feature spaces from the keys, gathers a sketch of the rows, and, in an overlap, learns the map
    from the current space to the previous one on completed rows. `transform_one` returns the sample with all absent
    features filled in: *completed* from the observed entries of their space while there are any, *recovered* by the
    maps once their space has retired, and left out where nothing is known about them.

    A sample without absent features costs O(ℓd) amortized, with ℓ the rows of the sketch; one with absent features
    O(ℓ²d). Memory is O(ℓd) for each space that is remembered.

    Parameters
    ----------
    feature_spaces
        What finds the spaces, and says what absence means.
    scaler
        What standardizes the rows inside.
    completion
        What fills the absent entries of a row from its observed ones.
    linear_map
        What learns the map from the current to the previous space.
    min_observed
        Share of the previous features that must be observed in a row of the overlap for the map to learn from it.
        At 0 rows are used that are made up in full; at 1 only intact ones.

    Attributes
    ----------
    spaces
        The feature spaces, oldest first.
    vanished
        The keys that are regarded as gone.
    events
        What happened to the keys, oldest first.

    Examples
    --------
    >>> import random
    >>> from river_pufe import FeatureRecovery
    >>> rng = random.Random(1)
    >>> recovery = FeatureRecovery()
    >>> for t in range(300):
    ...     heat = rng.gauss(20, 5)
    ...     x = {"old": heat, "new": 1.8 * heat + 32}
    ...     if t < 200:
    ...         del x["new"]
    ...     if t >= 250:
    ...         del x["old"]
    ...     recovery.learn_one(x)
    >>> recovery.vanished
    ('old',)
    >>> recovery.transform_one({"new": 50.0})
    {'new': 50.0, 'old': 10.06}

    References
    ----------
    [^1]: Hou, B.J., Zhang, L. and Zhou, Z.H., 2021. Prediction with Unpredictable Feature Evolution. IEEE TNNLS.

    """

    def __init__(
        self,
        feature_spaces: FeatureSpaces | None = None,
        scaler: RowScaler | None = None,
        completion: Completion | None = None,
        linear_map: LinearMap | None = None,
        min_observed: float = 0.25,
    ) -> None:
        if not 0 <= min_observed <= 1:
            raise ValueError(f"min_observed is a share in [0, 1], not {min_observed!r}")
        self.feature_spaces = feature_spaces if feature_spaces is not None else FeatureSpaces()
        self.scaler = (
            scaler if scaler is not None else RowScaler(centered=self.feature_spaces.absent == "missing")
        )
        self.completion = completion if completion is not None else ConditionalMean()
        self.linear_map = linear_map if linear_map is not None else LinearMap()
        self.min_observed = min_observed
        self._spaces = self.feature_spaces.clone()
        self._scaler = self.scaler.clone()
        self._map = self.linear_map.clone()
        self._previous: FrequentDirections | None = None
        self._retired: dict[int, _Retired] = {}

    # What River asks for.

    def learn_one(self, x: Sample) -> None:
        """Learn from the features of a sample."""
        _, _, row = self.evolve(x)
        self.update(row, self.views(row))

    def transform_one(self, x: Sample) -> dict[Key, typing.Any]:
        """The sample, with absent features filled in."""
        row = self.read(x)
        views = self.views(row)
        known = self.values(views[min(COMPLETED, len(views) - 1)])
        given = {key: value for key, value in x.items() if key not in known or not math.isnan(number(key, value))}
        return given | {key: value for key, value in known.items() if key not in given}

    def recover_one(self, x: Sample) -> dict[Key, float]:
        """What the vanished features would have read, by key."""
        known = self.transform_one(x)
        return {key: known[key] for key in self.vanished if key in known}

    @property
    def spaces(self) -> tuple[FeatureSpace, ...]:
        return self._spaces.spaces

    @property
    def vanished(self) -> tuple[Key, ...]:
        return self._spaces.vanished

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._spaces.events)

    @property
    def overlapping(self) -> bool:
        """Whether keys of two spaces are alive."""
        return self._spaces.n_previous > 0

    # What the learning loop asks for: rows.

    def read(self, x: Sample) -> Row:
        """Row of a sample over the known slots, NaN where a key is absent."""
        return self._spaces.read(x)

    def views(self, row: Row) -> Array:
        """Three ways to see a row, standardized, behind a leading 1.

        Returns
        -------
        Shape (3, d + 1): what is *present* (absent entries are the mean), *completed*, and the *fresh* part, in which
        the previous space is left out. Shape (1, d + 1) where all three are the same.

        """
        scaled = self._scaler.scale(row)
        absent = np.isnan(scaled)
        p = self._spaces.n_previous
        incomplete = bool(absent.any())
        views = np.empty((3 if incomplete or p else 1, len(row) + 1))
        views[:, 0] = 1.0
        if incomplete:
            views[PRESENT, 1:] = np.where(absent, 0.0, scaled)
            views[COMPLETED:, 1:] = self._complete(scaled, absent)
        else:
            views[:, 1:] = scaled
        if p:
            views[FRESH, 1 : p + 1] = 0.0
        return views

    def _complete(self, scaled: Row, absent: Mask) -> Row:
        p = self._spaces.n_previous
        if not p:
            completed = self.completion.complete(scaled, absent, self._map.sketch) if self._map.sketch.n else None
            return np.where(absent, 0.0, scaled) if completed is None else completed
        filled = scaled.copy()
        missing = absent.copy()
        if missing[:p].any() and self._previous is not None and self._previous.n:
            completed = self.completion.complete(filled[:p], missing[:p], self._previous)
            if completed is not None:
                filled[:p] = completed
                missing[:p] = False
        if missing.any():
            filled[missing] = self._map.solve(missing)(filled[~missing]) if self._map.sketch.n else 0.0
        return filled

    def values(self, view: Array) -> dict[Key, float]:
        """All features by key, in units of their own, from one row of `views`; those of retired spaces recovered."""
        row = view[1:]
        known = {}
        for retired in self._retired.values():
            if retired.recover is not None:
                recovered = retired.mean + retired.recover(row) * retired.deviation
                known.update(zip(retired.keys, recovered.tolist()))
        known.update(zip(self._spaces.keys, self._scaler.unscale(row).tolist()))
        return known

    def evolve(self, x: Sample) -> tuple[Evolution, Affine | None, Row]:
        """Follow the keys of a sample.

        Returns
        -------
        What changed; the map from the slots that are kept to those that are dropped, if any are and it is known; and
        the row of the sample over the slots that are kept.

        """
        evolution, row = self._spaces.observe(x)
        recover = None
        if evolution.opened:
            self._scaler.extend(evolution.opened)
            if evolution.overlap:
                self._previous = self._map.sketch
                self._map = self.linear_map.clone()
                self._map.sketch.extend(len(row))
            else:
                self._map.sketch.extend(evolution.opened)
            for retired in self._retired.values():
                if retired.recover is not None:
                    retired.recover.extend(evolution.opened)
        if evolution.settled:
            self._previous = None
        if evolution.keep is not None:
            recover = self._drop(evolution, evolution.keep)
            row = row[evolution.keep]
        return evolution, recover, row

    def _drop(self, evolution: Evolution, keep: Mask) -> Affine | None:
        recover = self._map.solve(~keep) if self._map.sketch.n else None
        for retired in self._retired.values():
            if retired.recover is not None:
                retired.recover = retired.recover.after(keep, recover) if recover is not None else None
        if evolution.retired is not None:
            space = self._spaces.retired(evolution.retired)
            self._retired[evolution.retired] = _Retired(
                space.vanished, self._scaler.mean[~keep], self._scaler.deviation[~keep], recover
            )
        for identifier in evolution.forgotten:
            del self._retired[identifier]
        self._scaler.keep(keep)
        self._map.sketch.keep(keep)
        return recover

    def update(self, row: Row, views: Array) -> None:
        """Learn from a row and its views: what is usual, and how the entries hang together."""
        p = self._spaces.n_previous
        if not p or np.count_nonzero(row[:p] == row[:p]) >= self.min_observed * p:
            self._map.update(views[min(COMPLETED, len(views) - 1), 1:])
        self._scaler.update(row)
