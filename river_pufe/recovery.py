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
from .spaces import Event, Evolution, FeatureSpace, FeatureSpaces, Key, Mask, Row, Sample
from .values import LARGEST, number

#: Views of a sample, the rows of `Reading.views`.
PRESENT, COMPLETED, FRESH = range(3)


@dataclasses.dataclass(slots=True)
class Reading:
    """A sample as the experts see it.

    Parameters
    ----------
    row
        Values by slot, NaN where absent, shape (d,).
    views
        Three ways to see the row, standardized, behind a leading 1: what is *present* (absent entries are the mean),
        *completed*, and the *fresh* part, in which the previous space is left out. Shape (3, d + 1), or (1, d + 1)
        where all three are the same.
    recovery
        Where the rows come from.
    usable
        Whether the map may learn from it: in an overlap, whether the previous part could be completed.

    """

    row: Row
    views: Array
    usable: bool
    recovery: FeatureRecovery

    @property
    def completed(self) -> Array:
        """The completed view, shape (d + 1,)."""
        completed: Array = self.views[min(COMPLETED, len(self.views) - 1)]
        return completed

    @property
    def overlapping(self) -> bool:
        """Whether an overlap is on, and previous keys are observed."""
        previous = self.row[: self.recovery._spaces.n_previous]
        return len(previous) > 0 and not bool(np.isnan(previous).all())

    def present(self) -> dict[Key, float]:
        """The known features that are there, by key, in units of their own."""
        return {key: value for key, value in zip(self.recovery._spaces.keys, self.row.tolist()) if value == value}

    def values(self) -> dict[Key, float]:
        """All features by key, in units of their own; absent ones completed, those of retired spaces recovered."""
        return self.recovery.values(self)


@dataclasses.dataclass
class _Retired:
    """Vanished keys of a retired space, and how they follow from the slots that are left."""

    keys: tuple[Key, ...]
    statistics: Array
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

    Attributes
    ----------
    spaces
        The feature spaces, oldest first.
    vanished
        The keys that are regarded as gone.
    events
        What happened to the keys, oldest first.
    rounds
        Number of samples seen.

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
    {'new': 50.0, 'old': 10.11}

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
    ) -> None:
        self.feature_spaces = feature_spaces if feature_spaces is not None else FeatureSpaces()
        # None stays None: a clone may be given other spaces, in which absence means something else.
        self.scaler = scaler
        self.completion = completion if completion is not None else ConditionalMean()
        self.linear_map = linear_map if linear_map is not None else LinearMap()
        self._spaces = self.feature_spaces.clone()
        centered = self.feature_spaces.absent == "missing"
        self._scaler = scaler.clone() if scaler is not None else RowScaler(centered=centered)
        self._map = self.linear_map.clone()
        self._previous: FrequentDirections | None = None
        self._retired: dict[int, _Retired] = {}

    # What River asks for.

    def learn_one(self, x: Sample) -> None:
        """Learn from the features of a sample."""
        _, _, reading = self.evolve(x)
        self.update(reading)

    def transform_one(self, x: Sample) -> dict[Key, typing.Any]:
        """The sample, with absent features filled in."""
        known = self.values(self.look(x))
        given = {key: value for key, value in x.items() if not math.isnan(number(key, value))}
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
    def rounds(self) -> int:
        """Number of samples seen; events are told by it."""
        return self._spaces.rounds

    @property
    def overlapping(self) -> bool:
        """Whether keys of two spaces are alive."""
        return self._spaces.n_previous > 0

    # What the learning loop asks for.

    def look(self, x: Sample) -> Reading:
        """How a sample looks; nothing changes."""
        return self._reading(self._spaces.read(x))

    def look_many(self, keys: list[Key], rows: Array) -> Array | None:
        """The view of many samples at once.

        Parameters
        ----------
        keys
            Keys of the columns.
        rows
            Values, shape (n, columns), NaN where absent.

        Returns
        -------
        Shape (n, d + 1), or None where samples have more than one view: in an overlap, or with absent features.

        """
        columns = self._spaces.columns(keys)
        if self.overlapping or columns is None:
            return None
        views = self._views(rows[:, columns])
        return None if np.isnan(views).any() else views

    def pass_by(self, keys: list[Key], rows: Array) -> list[Reading]:
        """Follow the first of many samples, as long as no key comes or is absent, and no unit changes.

        Parameters
        ----------
        keys
            Keys of the columns.
        rows
            Values, shape (n, columns), NaN where absent.

        Returns
        -------
        How those samples look; none, if the very first has to be followed by itself.

        """
        columns = self._spaces.columns(keys) if self._spaces.expects(keys) else None
        if columns is None:
            return []
        rows = rows[: self._scaler.remaining, columns]
        gaps = np.isnan(rows).any(1)
        if gaps.any():
            rows = rows[: gaps.argmax()]
        self._spaces.pass_by(len(rows))
        return [Reading(row, view[None], True, self) for row, view in zip(rows, self._views(rows))]

    def _views(self, rows: Array) -> Array:
        """Rows over the slots, standardized, behind a leading 1."""
        views = np.ones((len(rows), rows.shape[1] + 1))
        self._scaler.scale(rows, out=views[:, 1:])
        return views

    def _reading(self, row: Row) -> Reading:
        p = self._spaces.n_previous
        views = np.empty((3 if p else 1, len(row) + 1))
        views[:, 0] = 1.0
        scaled = self._scaler.scale(row, out=views[0, 1:])
        # Scaled values are cut, so only a NaN can hide in this sum of squares.
        incomplete = not scaled.dot(scaled) < math.inf
        if incomplete and not p:
            views = np.repeat(views, 3, axis=0)
        elif p:
            views[1:] = views[0]
        usable = True
        if incomplete:
            scaled, absent = views[COMPLETED, 1:].copy(), np.isnan(scaled)
            views[PRESENT, 1:][absent] = 0.0
            views[COMPLETED:, 1:], usable = self._complete(scaled, absent)
        if p:
            views[FRESH, 1 : p + 1] = 0.0
        return Reading(row, views, usable, self)

    def _complete(self, scaled: Row, absent: Mask) -> tuple[Row, bool]:
        """A row without gaps, and whether its previous part follows from observed entries of that part."""
        own = self._spaces.n_previous or len(scaled)
        sketch = self._map.sketch if self._previous is None else self._previous
        filled, missing, usable = scaled.copy(), absent.copy(), True
        if absent[:own].any():
            completed = self.completion.complete(scaled[:own], absent[:own], sketch) if sketch.n else None
            usable = completed is not None
            if completed is not None:
                filled[:own], missing[:own] = completed, False
        trust = self.completion.trust_in_map(self._map.sketch.n, len(scaled) - own) if own < len(scaled) else 0.0
        if missing.any() or trust:
            mapped = self._map_to(absent, scaled)
            filled[missing] = mapped[missing]
            beside = absent & ~missing
            filled[beside] += trust * (mapped[beside] - filled[beside])
        return filled, usable

    def _map_to(self, asked: Mask, scaled: Row) -> Row:
        """A row whose asked entries follow from the others by the map; the mean where it knows nothing."""
        mapped = scaled.copy()
        mapped[asked] = self._map.solve(asked)(scaled[~asked]) if self._map.sketch.n and not asked.all() else 0.0
        return mapped

    def values(self, reading: Reading) -> dict[Key, float]:
        """All features by key, in units of their own; absent ones completed, those of retired spaces recovered."""
        row = reading.completed[1:]
        completed = np.where(np.isnan(reading.row), self._scaler.unscale(row), reading.row)
        known: dict[Key, float] = {}
        for retired in self._retired.values():
            if retired.recover is not None:
                _, mean, deviation, _ = retired.statistics
                with np.errstate(over="ignore"):
                    recovered = np.clip(mean + retired.recover(row) * deviation, -LARGEST, LARGEST)
                known.update(zip(retired.keys, recovered.tolist()))
        known.update(zip(self._spaces.keys, completed.tolist()))
        return known

    def evolve(self, x: Sample) -> tuple[Evolution, Affine | None, Reading]:
        """Follow the keys of a sample.

        Returns
        -------
        What changed; the map from the slots that are kept to those that are dropped, if any are and it is known; and
        how the sample looks after the change.

        """
        evolution, row = self._spaces.observe(x)
        recover = None
        if evolution.opened:
            self._scaler.extend(evolution.opened)
            for slot, origin in enumerate(evolution.origins, len(row) - evolution.opened):
                if origin is not None:
                    space, position = origin
                    self._scaler.restore(slot, self._retired[space].statistics[:, position])
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
        return evolution, recover, self._reading(row)

    def _drop(self, evolution: Evolution, keep: Mask) -> Affine | None:
        recover = self._map.solve(~keep) if self._map.sketch.n else None
        for retired in self._retired.values():
            if retired.recover is not None:
                retired.recover = retired.recover.after(keep, recover) if recover is not None else None
        if evolution.retired is not None:
            self._retired[evolution.retired] = _Retired(
                self._spaces.retired(evolution.retired).vanished,
                self._scaler.statistics(~keep),
                recover,
            )
        for identifier in evolution.forgotten:
            del self._retired[identifier]
        self._scaler.keep(keep)
        self._map.sketch.keep(keep)
        return recover

    def update(self, reading: Reading) -> None:
        """Learn from a sample what is usual, and how its entries hang together."""
        if reading.usable:
            self._map.update(reading.completed[1:])
        if (units := self._scaler.update(reading.row)) is not None:
            factor, shift = units
            self._map.sketch.rescale(factor, shift)
            if self._previous is not None:
                own = self._spaces.n_previous
                self._previous.rescale(factor[:own], shift[:own])
            for retired in self._retired.values():
                if retired.recover is not None:
                    retired.recover.rescale(factor, shift)
