"""Has a key vanished, or is it only absent for a while?"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..values import Mask

#: Weight, in rounds, of the share of rounds in which a key is present as evidence of how long its gaps last.
_SPELL_PRIOR = 10.0


class Presence:
    """When each slot was present and absent, and which slots are gone.

    A key has vanished when a gap as long as its present one would be improbable, given the rounds in which it was
    present and absent before. With n present and m absent rounds, a key that comes and goes at random stays away for g
    rounds with probability B(n + 1, m + 1 + g) / B(n + 1, m + 1), B the beta function. A key that stays away in spells
    is judged by how long its gaps used to last. The larger of the two probabilities counts. Any key that is seen again
    is alive again. A round costs O(number of absent keys).

    Attributes
    ----------
    any_open
        Whether a slot that is alive is absent now.
    vanished_at
        The round in which it was clear that a key has vanished, -1 where it is alive; shape (d,).

    """

    def __init__(self) -> None:
        self.any_open = False
        self.vanished_at = np.zeros(0, dtype=np.int64)
        self._born = np.zeros(0, dtype=np.int64)
        # Rounds and number of the gaps that are over, and the round in which the open gap began (-1: none is open).
        self._absences = np.zeros(0, dtype=np.int64)
        self._gaps = np.zeros(0, dtype=np.int64)
        self._since = np.zeros(0, dtype=np.int64)
        # Log-probability of a gap as long as the open one, for a key that is absent at random and for one in spells.
        self._random = np.zeros(0)
        self._spell = np.zeros(0)

    @property
    def gone(self) -> Mask:
        """Which slots have vanished, shape (d,)."""
        gone: Mask = self.vanished_at >= 0
        return gone

    def extend(self, n: int, round_: int) -> None:
        """Append n slots that are present for the first time."""
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                born = {"_born": round_, "_since": -1, "vanished_at": -1}.get(name, 0)
                setattr(self, name, np.append(value, np.full(n, born, dtype=value.dtype)))

    def keep(self, mask: Mask) -> None:
        """Drop all other slots."""
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(self, name, value[mask])

    def seen(self, round_: int) -> npt.NDArray[np.int64]:
        """Number of rounds before this one in which each slot was present, shape (d,)."""
        open_gap = np.where(self._since >= 0, round_ - self._since, 0)
        return round_ - self._born - self._absences - open_gap

    def update(self, present: Mask, round_: int, significance: float) -> tuple[Mask | None, Mask | None]:
        """Account for one round; which slots returned from the gone, and which have vanished (None: none)."""
        returned = vanished = None
        back = present & (self._since >= 0)
        if back.any():
            self._absences[back] += round_ - self._since[back]
            self._gaps[back] += 1
            self._since[back] = -1
            self._random[back] = self._spell[back] = 0.0
            if (back & self.gone).any():
                returned = back & self.gone
                self.vanished_at[back] = -1
        away = np.flatnonzero(~present & ~self.gone)
        self.any_open = len(away) > 0
        if self.any_open:
            since, absences, gaps = self._since[away], self._absences[away], self._gaps[away]
            since = self._since[away] = np.where(since < 0, round_, since)
            gap = round_ - since
            age = since - self._born[away]
            share = (absences + 1) / (age + 2)
            goes_on = (_SPELL_PRIOR * share + absences - gaps + gap - 1) / (_SPELL_PRIOR + absences + gap - 1)
            self._random[away] += np.log((absences + 1 + gap) / (age + 2 + gap))
            self._spell[away] += np.log(np.where(gap == 0, share, goes_on))
            limit = math.log(significance) if significance else -math.inf
            lost = away[np.maximum(self._random[away], self._spell[away]) < limit]
            if len(lost):
                vanished = np.zeros(len(present), dtype=bool)
                vanished[lost] = True
                self.vanished_at[lost] = round_
        return returned, vanished
