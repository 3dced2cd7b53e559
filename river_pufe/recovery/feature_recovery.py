"""What would the features that are absent or gone read now?"""

from __future__ import annotations

import dataclasses
import math
import typing

import numpy as np
from river import base

from .. import kernels
from ..guard import guarded
from ..part import shown
from ..state.stateful import Stateful
from ..values import Array, Key, Mask, Sample, number
from .doubts import Doubts, Residuals
from .evolution import UNCHANGED, Event, Evolution, FeatureSpace, Rescaled
from .gaussian_rows import GaussianRows
from .linear_map import Affine
from .reading import COMPLETED, Expected, Reading, Readings, Retired
from .row_model import RowModel
from .scaling import FARTHEST, NewUnits, RowScaler, Scaler
from .spaces import FeatureSpaces


class FeatureRecovery(Stateful, base.Transformer):
    """Complete what is absent and recover what is gone, from what is there.

    **When to use it.** In front of a model that was trained on features that come and go: `FeatureRecovery() | model`
    keeps the model alive when its features vanish. It needs no label; the estimators of this package have one inside.

    `learn_one` finds the feature spaces from the keys, and learns how the features hang together: within a space and,
    in an overlap, between the current and the previous one. `transform_one` returns the sample with all absent
    features filled in: *completed* from the observed ones of their space while there are any, *recovered* by maps once
    their space has retired, and left out where nothing is known about them.

    Sensors are replaced under the name that they had, too. Where a feature no longer fits what the others say, or what
    it used to be, it is treated as absent until it is clear what has happened. If it is the same in another unit, its
    values are converted from then on, in `transform_one` as well. If it is something else, it starts anew. Both are
    `events`; see `recovery.doubts.Doubts`.

    Costs and memory are those of the `row_model`; a map for each space that is remembered comes on top.

    Parameters
    ----------
    feature_spaces
        What finds the spaces, and says what absence means.
    scaler
        What standardizes the rows inside.
    row_model
        What learns how the entries of a row hang together, and computes some from others.
    false_alarms
        The rate, for a feature and round, at which it may seem by chance that a feature no longer fits, as when its
        sensor was replaced under its name. 0: features are not judged at all. They are not either where absence means
        zero, above the `max_size` of `GaussianRows`, and with other row models.

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
    {'new': 50.0, 'old': 10.00}

    References
    ----------
    [^1]: Hou, B.J., Zhang, L. and Zhou, Z.H., 2021. Prediction with Unpredictable Feature Evolution. IEEE TNNLS.

    """

    def __init__(
        self,
        feature_spaces: FeatureSpaces | None = None,
        scaler: Scaler | None = None,
        row_model: RowModel | None = None,
        false_alarms: float = 1e-7,
    ) -> None:
        if not 0 <= false_alarms < 1:
            raise ValueError(f"false_alarms is a rate in [0, 1), not {false_alarms!r}")
        self.feature_spaces = feature_spaces if feature_spaces is not None else FeatureSpaces()
        # None stays None: a clone may be given other spaces, in which absence means something else.
        self.scaler = scaler
        self.row_model = row_model if row_model is not None else GaussianRows()
        self._spaces = self.feature_spaces.clone()
        centered = self.feature_spaces.absent == "missing"
        self._scaler = scaler.clone() if scaler is not None else RowScaler(centered=centered)
        self._row_model = self.row_model.clone()
        self.false_alarms = false_alarms
        # Where absence means zero, most values of a feature may be 0, and any other is far away.
        self._doubts = Doubts(false_alarms if centered else 0.0)
        self._retired: dict[int, Retired] = {}

    def rebuild(self) -> None:
        # The state of an earlier release knows of no doubts.
        if len(self._spaces.keys) > self._doubts.n_slots:
            self._doubts.extend(len(self._spaces.keys) - self._doubts.n_slots)

    # What River asks for.

    def __repr__(self) -> str:
        return shown(self)

    @guarded
    def learn_one(self, x: Sample) -> None:
        """Learn from the features of a sample."""
        _, reading = self.advance(x)
        self.update(reading)

    @guarded
    def transform_one(self, x: Sample) -> dict[Key, typing.Any]:
        """The sample, with absent features filled in, and those that no longer fit converted or replaced."""
        row = self._spaces.read(x)
        reading = self._reading(row)
        given = {key: value for key, value in x.items() if not math.isnan(number(key, value))}
        known = reading.known
        for key, before, now in zip(reading.keys, row.tolist(), self._doubts.believed(reading.given).tolist()):
            # What is as it was keeps its type.
            if now != before:
                given[key] = known[key] if math.isnan(now) else now
        return given | {key: value for key, value in known.items() if key not in given}

    @guarded
    def recover_one(self, x: Sample) -> dict[Key, float]:
        """What the vanished features would have read, by key."""
        known = self.transform_one(x)
        # What the sample itself has may be of any type of number.
        return {key: number(key, known[key]) for key in self.vanished if key in known}

    @guarded
    def expected_one(self, x: Sample) -> dict[Key, Expected]:
        """What each known feature should read given the rest of the sample, and how far it may be from that.

        A sensor that reads something else by many deviations is suspect; and a value that is recovered or completed
        can be trusted to its deviation. Features of the living spaces come first, in the order of their slots, then
        those of the retired ones. Costs O(d³) for d features of the living spaces, or O(dk²) with k factors.

        Raises
        ------
        ValueError
            If a value is not a finite number.

        Examples
        --------
        >>> import random
        >>> from river_pufe import FeatureRecovery
        >>> rng = random.Random(1)
        >>> recovery = FeatureRecovery()
        >>> for _ in range(300):
        ...     heat = rng.gauss(20, 5)
        ...     recovery.learn_one({"attic": heat + rng.gauss(0, 1), "cellar": heat / 2 + rng.gauss(0, 1)})
        >>> value, deviation = recovery.expected_one({"attic": 30.0, "cellar": 2.0})["cellar"]
        >>> round(value, 1), round(deviation, 1)
        (14.7, 1.2)

        """
        reading = self.read(x)
        row = self._scaler.standardize(reading.row)
        means, variances = self._row_model.given_others(row)
        values = self._scaler.unscale(means)
        center = self._doubts.revert(values)
        away = np.abs(self._doubts.revert(self._scaler.unscale(means + np.sqrt(variances))) - center)
        # What has never varied has no unit.
        away[away == 0.0] = math.nan
        expected = dict(zip(reading.keys, map(Expected, center.tolist(), away.tolist())))
        for retired in self._retired.values():
            if retired.recover is not None:
                factor, offset = retired.conversions
                center = (np.array([reading.known[key] for key in retired.keys]) - offset) / factor
                away = np.sqrt(retired.recover.variance) * retired.statistics[2] / np.abs(factor)
                for key, *each in zip(retired.keys, center.tolist(), away.tolist()):
                    expected.setdefault(key, Expected(*each))
        return expected

    @property
    @guarded
    def spaces(self) -> tuple[FeatureSpace, ...]:
        return self._spaces.spaces

    @property
    @guarded
    def vanished(self) -> tuple[Key, ...]:
        return self._spaces.vanished

    @property
    @guarded
    def events(self) -> tuple[Event, ...]:
        return tuple(self._spaces.events)

    @property
    @guarded
    def rounds(self) -> int:
        """Number of samples seen; events refer to it."""
        return self._spaces.rounds

    @property
    @guarded
    def overlapping(self) -> bool:
        """Whether keys of two spaces are alive."""
        return self._spaces.n_previous > 0

    @property
    @guarded
    def living_keys(self) -> tuple[Key, ...]:
        """The keys of the living spaces."""
        return tuple(key for space in self.spaces if space.state != "retired" for key in space.keys)

    def rehearse(self, x: Sample) -> list[float]:
        answer = list(self.transform_one(x).values())
        self.learn_one(x)
        return answer

    # What the learning loop asks for.

    def read(self, x: Sample) -> Reading:
        """The reading of a sample; nothing changes."""
        return self._reading(self._spaces.read(x))

    def read_many(self, keys: list[Key], rows: Array) -> tuple[Array, Mask] | None:
        """The views of those of many samples that can be read at once.

        Parameters
        ----------
        keys
            Keys of the columns.
        rows
            Values, shape (n, columns), NaN where absent.

        Returns
        -------
        Views of shape (m, d + 1), and of which samples they are, shape (n,): not of those with absent features, or with
        values unlike any before. None in an overlap, and where a column is missing.

        """
        columns = self._spaces.columns(keys)
        if self.overlapping or columns is None:
            return None
        rows = self._doubts.believed(self._doubts.convert(rows[:, columns]))
        plain: Mask = np.asarray(~np.isnan(rows).any(1))
        views = self._views(rows[plain])
        plain[plain] = usual = self._doubts.are_usual(views[:, 1:])
        return views[usual], plain

    def read_ahead(self, keys: list[Key], rows: Array) -> Readings | None:
        """The readings of the first of many samples, as long as nothing but numbers changes; None if there is none.

        A key that comes or is absent is such a change, and so are new units, and a value unlike any before.

        Parameters
        ----------
        keys
            Keys of the columns.
        rows
            Values, shape (n, columns), NaN where absent.

        """
        columns = self._spaces.columns(keys) if self._spaces.expects(keys) else None
        if columns is None:
            return None
        rows = rows[: min(self._scaler.remaining, self._doubts.remaining), columns]
        rows = self._doubts.believed(self._doubts.convert(rows))
        gaps = np.isnan(rows).any(1)
        rows = rows[: gaps.argmax()] if gaps.any() else rows
        views = self._views(rows)
        residuals, n = self._doubts.usual_residuals(views[:, 1:])
        if not n:
            return None
        readings = Readings(rows, views, residuals, self._spaces.keys, self._scaler, self._retired.values())
        return readings if n == len(rows) else readings.head(n)

    def skip(self, n: int) -> None:
        """Follow samples that were read ahead, to learn from each with `update`."""
        self._spaces.advance_many(n)

    def follow_many(self, readings: Readings) -> NewUnits | None:
        """Follow samples that were read ahead, and learn from them; the units, where they are new."""
        self.skip(len(readings))
        # When doubts ask what is known of the rows, it is that of all but the latest, as in `update`.
        n = len(readings) - 1
        self._row_model.update_many(readings.head(n))
        self._doubts.update_many(readings, self._row_model)
        self._row_model.update(readings[n])
        return self._in_new_units(self._scaler.update_many(readings.rows))

    def _views(self, rows: Array) -> Array:
        """Rows over the slots, standardized, behind a leading 1."""
        views = np.ones((len(rows), rows.shape[1] + 1))
        self._scaler.scale(rows, out=views[:, 1:])
        return views

    def _as_reading(
        self,
        row: Array,
        given: Array,
        views: Array,
        away: Residuals,
        absent: Mask | None = None,
        filled: Array | None = None,
        usable: bool = True,
    ) -> Reading:
        keys, p, retired = self._spaces.keys, self._spaces.n_previous, self._retired.values()
        return Reading(row, given, views, absent, filled, *away, usable, keys, p, self._scaler, retired)

    def _reading(self, row: Array) -> Reading:
        given = self._doubts.convert(row)
        row = self._doubts.believed(given)
        reading = self._complete(row, given)
        return reading if reading.too_far < 0 else self._without_far(reading)

    def _without_far(self, first: Reading) -> Reading:
        """A reading in which values that are too far away are not believed, one after the other."""
        reading = first
        for _ in range(self._doubts.most):
            row = reading.row.copy()
            row[reading.too_far] = math.nan
            reading = self._complete(row, first.given)
            if reading.too_far < 0:
                # A rare event moves all keys: what is left would be unusual as well.
                return reading if reading.as_usual else first
        # Where there are too many of them, they are believed.
        return first

    def _complete(self, row: Array, given: Array) -> Reading:
        """The reading of a row."""
        p = self._spaces.n_previous
        view, complete = self._scaler.view(row)
        if complete and not p:
            return self._as_reading(row, given, view, self._doubts.residuals(view[0, 1:], row))
        absent, filled, usable = None, None, True
        if not complete:
            absent = np.isnan(row)
            filled, usable = self._row_model.complete(self._scaler.standardize(row), absent)
        views = kernels.views(view, row if filled is None else filled, FARTHEST, p)
        away = self._doubts.residuals(views[COMPLETED, 1:], row)
        return self._as_reading(row, given, views, away, absent, filled, usable)

    def advance(self, x: Sample, latest: Reading | None = None) -> tuple[Evolution, Reading]:
        """Follow the keys of a sample.

        Parameters
        ----------
        x
            The sample.
        latest
            A reading since which nothing has changed. If it is of an equal sample, it is returned again.

        Returns
        -------
        What changed, and the reading of the sample after the change.

        """
        evolution, row = self._spaces.advance(x)
        if evolution is not UNCHANGED:
            return self._follow(evolution, row)
        if latest is not None and latest.given.tobytes() == self._doubts.convert(row).tobytes():
            return evolution, latest
        return evolution, self._reading(row)

    def _follow(self, evolution: Evolution, row: Array) -> tuple[Evolution, Reading]:
        if evolution.opened:
            self._open(evolution, len(row))
        if evolution.settled:
            self._row_model.end_overlap(self._scaler)
        if evolution.keep is not None:
            evolution = dataclasses.replace(evolution, recover=self._drop(evolution, evolution.keep))
            row = row[evolution.keep]
        return evolution, self._reading(row)

    def _open(self, evolution: Evolution, d: int) -> None:
        """Append slots, of which there are d then, for new keys."""
        # First, because it may have to learn from rows that are in the units of the old slots.
        self._row_model.extend(evolution.opened, evolution.overlap, self._scaler)
        self._scaler.extend(evolution.opened)
        self._doubts.extend(evolution.opened)
        for slot, origin in enumerate(evolution.origins, d - evolution.opened):
            if origin is not None:
                space, position = origin
                retired = self._retired[space]
                self._scaler.restore(slot, retired.statistics[:, position])
                self._doubts.restore(slot, retired.conversions[:, position])
        for retired in self._retired.values():
            if retired.recover is not None:
                retired.recover.extend(evolution.opened)

    def _drop(self, evolution: Evolution, keep: Mask) -> Affine | None:
        recover = self._row_model.predict(~keep)
        for retired in self._retired.values():
            if retired.recover is not None:
                retired.recover = retired.recover.compose(keep, recover) if recover is not None else None
        if evolution.retired is not None:
            self._retired[evolution.retired] = Retired(
                self._spaces.retired(evolution.retired).vanished,
                self._scaler.statistics(~keep),
                self._doubts.conversions(~keep),
                recover.uncorrelated() if recover is not None else None,
            )
        for identifier in evolution.forgotten:
            del self._retired[identifier]
        self._scaler.keep(keep)
        self._doubts.keep(keep)
        self._row_model.keep(keep)
        return recover

    def update(self, reading: Reading) -> NewUnits | None:
        """Learn what is usual for each feature, and how they hang together; the units, where they are new."""
        for slot, conversion in self._doubts.update(reading, self._row_model):
            key = reading.keys[slot]
            if conversion is not None:
                self._spaces.events.append(Rescaled(self.rounds - 1, "rescaled", (key,), *conversion))
            else:
                self._spaces.replace(key)
        self._row_model.update(reading)
        return self._in_new_units(self._scaler.update(reading.row))

    def _in_new_units(self, units: NewUnits | None) -> NewUnits | None:
        """Express all that is known in new units, where there are any."""
        if units is not None:
            self._row_model.rescale(units.factor, units.shift)
            self._doubts.rescale(units.factor, units.shift)
            for retired in self._retired.values():
                if retired.recover is not None:
                    retired.recover.rescale(units.factor, units.shift)
        return units
