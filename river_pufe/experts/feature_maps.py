"""On which functions of a row is a linear model trained?"""

from __future__ import annotations

import abc
import math
import sys
import typing

import numpy as np

from .. import kernels
from ..part import Part
from ..recovery.linear_map import Affine
from ..recovery.scaling import NewUnits
from ..state.packing import packed, unpacked
from ..state.parts import Stored
from ..values import Array, Indices, Mask

#: Rows and outcomes of another unit are clipped here, so that their squares are finite.
_FARTHEST = 1e50
#: Distances below this share of the largest are rounding.
_SAME = 1e-9


class FeatureMap(Part, abc.ABC):
    """Functions of a row, the *features*, on which linear models are trained.

    A map follows the slots of the row. Where its features change, it says what each of them was before, so that weights
    and what rules know of them can be kept.

    Attributes
    ----------
    name
        Short name in the names of experts.
    trust
        How much models of these features count before any loss, next to those of others; at 0 there are none.
    per_slot
        Whether feature i is a function of slot i alone: weights are then remembered for a slot that returns.
    of_outcomes
        Whether features are means of outcomes, so that they have the unit of scores.

    """

    name: str = ""
    trust: float = 1.0
    per_slot: bool = False
    of_outcomes: bool = False

    @property
    @abc.abstractmethod
    def n(self) -> int:
        """Number of features."""

    @abc.abstractmethod
    def __call__(self, rows: Array) -> Array:
        """Features of rows, shapes (k, d) and (k, n)."""

    @abc.abstractmethod
    def open(self, n_slots: int, n_known: int, strengths: Array, overlap: bool) -> Indices:
        """Slots are appended for new keys.

        Parameters
        ----------
        n_slots
            Number of new slots.
        n_known
            Number of slots before.
        strengths
            How much each feature counts, shape (n,).
        overlap
            Whether another space begins.

        Returns
        -------
        What each feature was before, shape (n,) of then; -1 where it is new.

        """

    @abc.abstractmethod
    def keep(self, slots: Mask, recover: Affine | None) -> Indices:
        """All slots but some are dropped, which follow from the others by `recover`, if that is known.

        Returns
        -------
        What each feature was before, shape (n,) of then.

        """

    def pull_back(self, weights: Array, recover: Affine) -> tuple[Array, Array]:
        """Weights on the features that are left, and the constant, equal to weights on those that were dropped.

        Parameters
        ----------
        weights
            Shape (dropped, k).
        recover
            The map from the slots that are left to those that were dropped.

        """
        return np.zeros((self.n, weights.shape[1])), np.zeros(weights.shape[1])

    def rescale(self, units: NewUnits) -> NewUnits | None:
        """Follow new units of the slots.

        Returns
        -------
        New units of the features, of which those of the first map alone may have shifts; None: the features are what
        they were.

        """
        return None

    @property
    def learns(self) -> bool:
        """Whether the map learns now."""
        return True

    @property
    def room(self) -> int:
        """How many rows `kernels.remember` can learn for the map before its form is another one."""
        return 0

    def learn(self, row: Array, outcome: Array, w: float) -> bool:
        """Learn from a completed row, shape (d,), and what came of it, shape (outcomes,); w is its weight.

        Returns
        -------
        Whether the form of the map is another one now.

        """
        return False

    def make_room(self, n_outcomes: int) -> Indices:
        """Outcomes have so many entries from now on; what each feature was before, shape (n,) of then."""
        return np.arange(self.n)

    def rescale_scores(self, factor: float, shift: float) -> None:
        """Scores, and targets, have a new unit: what was s is factor · s + shift."""


class Identity(FeatureMap):
    """The row itself.

    **When to use it.** As the first map, always.

    Parameters
    ----------
    trust
        How much models of these features count before any loss, next to those of others; at 0 there are none.

    """

    per_slot = True
    learns = False
    form = kernels.Same()

    def __init__(self, trust: float = 1.0) -> None:
        if not trust >= 0:
            raise ValueError(f"trust is 0 or more, not {trust!r}")
        self.trust = trust
        self._n = 0

    @property
    def n(self) -> int:
        return self._n

    def __call__(self, rows: Array) -> Array:
        return rows

    def open(self, n_slots: int, n_known: int, strengths: Array, overlap: bool) -> Indices:
        self._n = n_known + n_slots
        return np.concatenate([np.arange(n_known), np.full(n_slots, -1)])

    def keep(self, slots: Mask, recover: Affine | None) -> Indices:
        self._n = int(np.count_nonzero(slots))
        return np.flatnonzero(slots)

    def pull_back(self, weights: Array, recover: Affine) -> tuple[Array, Array]:
        return recover.pull_back(weights)

    def rescale(self, units: NewUnits) -> NewUnits:
        return units


class RandomFourier(FeatureMap):
    """Random Fourier features $\\sqrt 2 \\cos(w^T x + b)$: a linear model of them is a model of Gaussian kernels.

    **When to use it.** Beside the row itself, by default: for targets that are not linear.

    A frequency w is a random combination of the first rows of a space, as many as `n_rows`: it has a coefficient of its
    own for each row, not for each key, so that neither the order of the keys nor their names matter. Frequencies are
    scaled until rows differ along them by 1 / `bandwidth` on average, and phases b are uniform.

    Where slots are dropped that follow from the others, $w^T x + b$ is a linear form, and moves through the map as the
    weights of a linear model do; so what was learned stays. Half of the features that count least are drawn anew for
    each space, from its own rows. Until its rows have come a feature is 0. Costs O(nd).

    Parameters
    ----------
    n_features
        Number of features. Each doubling describes finer functions, and costs twice as much.
    bandwidth
        How far apart rows must be for features to differ, in units of their deviation. Towards 0 no row says anything
        about another one; at infinity all features are linear.
    n_rows
        Number of rows from which frequencies are drawn.
    seed
        Seed of the draws.
    trust
        How much models of these features count before any loss, next to those of others; at 0 there are none.

    References
    ----------
    [^1]: Rahimi, A. and Recht, B., 2007. Random features for large-scale kernel machines. NeurIPS.

    """

    name = "fourier"

    def __init__(
        self,
        n_features: int = 50,
        bandwidth: float = 0.35,
        n_rows: int = 10,
        seed: int = 1,
        trust: float = 0.1,
    ) -> None:
        if not n_features >= 1:
            raise ValueError(f"n_features is 1 or more, not {n_features!r}")
        if not bandwidth > 0:
            raise ValueError(f"bandwidth is a distance above 0, not {bandwidth!r}")
        if not n_rows >= 1:
            raise ValueError(f"n_rows is a number of rows, 1 or more, not {n_rows!r}")
        if not trust >= 0:
            raise ValueError(f"trust is 0 or more, not {trust!r}")
        self.n_features = n_features
        self.bandwidth = bandwidth
        self.n_rows = n_rows
        self.seed = seed
        self.trust = trust
        # How often features were drawn.
        self._n_draws = 0
        self._frequencies: Array = np.zeros((n_features, 0))
        self._phases: Array = np.zeros(n_features)
        # √2 where a feature is drawn, 0 where it waits for rows; and those rows.
        self._heights: Array = np.zeros(n_features)
        self._rows: Array = np.zeros((0, 0))
        self._waiting = True

    @property
    def n(self) -> int:
        return self.n_features

    def check_state(self) -> None:
        if not self.n_features == len(self._frequencies) == len(self._phases) == len(self._heights):
            raise ValueError(f"the state has {len(self._phases)} random features, but n_features={self.n_features!r}")

    @property
    def form(self) -> kernels.Fourier:
        return self._form()

    def _form(self) -> kernels.Fourier:
        return kernels.Fourier(self._frequencies, self._phases, self._heights)

    def __call__(self, rows: Array) -> Array:
        return kernels.features(rows, self._form())

    def open(self, n_slots: int, n_known: int, strengths: Array, overlap: bool) -> Indices:
        origins = np.arange(self.n_features)
        if overlap and not self._waiting:
            renewed = np.argsort(strengths, kind="stable")[: self.n_features // 2]
            self._frequencies[renewed] = 0.0
            self._heights[renewed] = 0.0
            self._rows = self._rows[:0]
            self._waiting = True
            origins[renewed] = -1
        self._frequencies = np.hstack([self._frequencies, np.zeros((self.n_features, n_slots))])
        self._rows = np.hstack([self._rows, np.zeros((len(self._rows), n_slots))])
        return origins

    def keep(self, slots: Mask, recover: Affine | None) -> Indices:
        dropped = self._frequencies[:, ~slots]
        self._frequencies, self._rows = np.ascontiguousarray(self._frequencies[:, slots]), self._rows[:, slots]
        if recover is not None:
            moved, constant = recover.pull_back(dropped.T)
            self._frequencies += moved.T
            self._phases = self._phases + constant
        return np.arange(self.n_features)

    def rescale(self, units: NewUnits) -> None:
        self._frequencies = self._frequencies / units.factor
        self._phases = self._phases - self._frequencies @ units.shift
        self._rows = units.factor * self._rows + units.shift
        return None

    @property
    def learns(self) -> bool:
        return self._waiting

    def learn(self, row: Array, outcome: Array, w: float) -> bool:
        self._rows = np.vstack([self._rows[-self.n_rows :], row])
        if len(self._rows) >= self.n_rows:
            self._draw()
        return not self._waiting

    def _draw(self) -> None:
        rng = np.random.default_rng((self.seed, self._n_draws))
        directions = rng.normal(size=(self.n_features, len(self._rows))) @ self._rows
        along = self._rows @ directions.T
        spread = float(along.std(0).mean())
        # Rows that are all the same differ by rounding.
        if not _SAME * float(np.abs(along).max()) < spread:
            return
        drawn = self._heights == 0.0
        self._frequencies[drawn] = directions[drawn] / (spread * self.bandwidth)
        self._phases[drawn] = rng.uniform(0.0, 2.0 * math.pi, self.n_features)[drawn]
        self._heights[drawn] = math.sqrt(2.0)
        self._rows = self._rows[:0]
        self._waiting = False
        self._n_draws += 1


class Neighbours(Stored, FeatureMap):
    """The mean target of earlier rows, in which near ones count most.

    **When to use it.** Beside the others, by default: for targets that persist where rows are alike, as in streams of
    many stations, machines or people that report in turn.

    A row at a distance r counts as $r^{-4}$, so the nearest ones decide, and how many they are is left to the data. The
    latest rows of a space are kept, completed and standardized; those of an earlier one are forgotten when it is gone.
    Costs O(window · d) time and memory.

    Parameters
    ----------
    window
        Number of rows that are kept.
    trust
        How much models of these features count before any loss, next to those of others; at 0 there are none.

    """

    DERIVED = ("_form",)
    name = "neighbours"
    of_outcomes = True

    def __init__(self, window: int = 300, trust: float = 0.3) -> None:
        if not window >= 1:
            raise ValueError(f"window is a number of rows, 1 or more, not {window!r}")
        if not trust >= 0:
            raise ValueError(f"trust is 0 or more, not {trust!r}")
        self.window = window
        self.trust = trust
        # As in `kernels.Nearest`.
        self._rows: Array = np.zeros((0, 0))
        self._squares: Array = np.zeros(0)
        self._outcomes: Array = np.zeros((0, 0))
        self._weights: Array = np.zeros(0)
        self._earlier: Mask = np.zeros(0, dtype=bool)
        self._counts = np.zeros(2, dtype=np.int64)
        self._renew_form()

    @property
    def n(self) -> int:
        return int(self._outcomes.shape[1])

    def stored(self) -> dict[str, typing.Any]:
        # In an overlap, rows of the earlier space have nothing under the new keys.
        return {**super().stored(), "_rows": packed(self._rows, self._rows != 0.0)}

    def rebuild(self) -> None:
        self._rows = unpacked(vars(self)["_rows"], 0.0)
        self._renew_form()

    @property
    def form(self) -> kernels.Nearest:
        return self._form

    def _renew_form(self) -> None:
        """Let the form refer to the arrays as they are now."""
        self._form = kernels.Nearest(
            self._rows, self._squares, self._outcomes, self._weights, self._earlier, self._counts
        )

    def __call__(self, rows: Array) -> Array:
        return kernels.features(rows, self._form)

    def make_room(self, n_outcomes: int) -> Indices:
        before = self.n
        self._outcomes = np.hstack([self._outcomes, np.zeros((len(self._outcomes), n_outcomes - before))])
        self._renew_form()
        return np.append(np.arange(before), np.full(n_outcomes - before, -1))

    def open(self, n_slots: int, n_known: int, strengths: Array, overlap: bool) -> Indices:
        self._rows = np.hstack([self._rows, np.zeros((len(self._rows), n_slots))])
        if overlap:
            self._earlier[: self._counts[0]] = True
        self._renew_form()
        return np.arange(self.n)

    def keep(self, slots: Mask, recover: Affine | None) -> Indices:
        known, oldest = self._counts
        by_age = np.roll(np.arange(known), -oldest)
        kept = by_age[~self._earlier[by_age]]
        self._rows, self._outcomes = np.ascontiguousarray(self._rows[kept][:, slots]), self._outcomes[kept]
        self._squares, self._earlier = np.square(self._rows).sum(1), self._earlier[kept]
        self._weights = self._weights[kept]
        self._counts[:] = len(kept), 0
        self._renew_form()
        return np.arange(self.n)

    def rescale(self, units: NewUnits) -> None:
        # What is beyond all floats is bounded as well.
        with np.errstate(over="ignore"):
            self._rows = kernels.clip(units.factor * self._rows + units.shift, _FARTHEST)
        self._squares = np.square(self._rows).sum(1)
        self._renew_form()
        return None

    def rescale_scores(self, factor: float, shift: float) -> None:
        kernels.rescale_outcomes(self._outcomes, factor, shift, _FARTHEST)

    @property
    def room(self) -> int:
        known = len(self._rows)
        # At last a row takes the place of the oldest one.
        return known - int(self._counts[0]) if known < self.window else sys.maxsize

    def learn(self, row: Array, outcome: Array, w: float) -> bool:
        if w == 0.0:
            return False
        known, grows = len(self._rows), self.room == 0
        if grows:
            self._make_room(min(max(known, 16), self.window - known))
        kernels.remember(row, outcome, w, self._form)
        return grows

    def _make_room(self, more: int) -> None:
        self._rows = np.vstack([self._rows, np.zeros((more, self._rows.shape[1]))])
        self._outcomes = np.vstack([self._outcomes, np.zeros((more, self.n))])
        self._squares = np.append(self._squares, np.zeros(more))
        self._earlier = np.append(self._earlier, np.zeros(more, dtype=bool))
        self._weights = np.append(self._weights, np.zeros(more))
        self._renew_form()
