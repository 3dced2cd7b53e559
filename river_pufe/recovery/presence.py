"""Has a key vanished, or is it only absent for a while?"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import special

from ..values import Array, Mask

Slots = npt.NDArray[np.intp]

#: Weight, in rounds, of the share of rounds in which a key is present as evidence of how long its gaps last.
_SPELL_PRIOR = 10.0
#: A log-probability that is below the limit by no more than this is equal to it but for rounding.
_ROUNDING = 1e-9


class Presence:
    """When each slot was present and absent, and which slots are gone.

    A key has vanished when a gap as long as its present one would be improbable, given the rounds in which it was
    present and absent before. With n present and m absent rounds, a key that comes and goes at random stays away for g
    rounds with probability B(n + 1, m + 1 + g) / B(n + 1, m + 1), B the beta function. A key that stays away in spells
    is judged by how long its gaps used to last: after k gaps and g rounds of the present one, it goes on with
    probability (10 s + m - k + g - 1) / (10 + m + g - 1), where s = (m + 1) / (n + m + 2) is that of its first round.
    The larger of the two probabilities counts. Any key that is seen again is alive again.

    The longer a gap has lasted, the less one more round changes its probability. So the latest factor tells in which
    round a gap can matter at the earliest, and nothing is computed before: a round costs O(1) for each key that comes,
    goes or has to be judged, and a comparison with the round before.

    Attributes
    ----------
    present
        Which slots were present in the latest round, shape (d,).
    gone
        Which slots have vanished, shape (d,).
    vanished_at
        The round in which it was clear that a key has vanished, -1 where it is alive; shape (d,).

    """

    def __init__(self) -> None:
        self.present = np.zeros(0, dtype=bool)
        self.gone = np.zeros(0, dtype=bool)
        self.vanished_at = np.zeros(0, dtype=np.int64)
        self._born = np.zeros(0, dtype=np.int64)
        # Rounds and number of the gaps that are over, and the round in which the open gap began (-1: none is open).
        self._absences = np.zeros(0, dtype=np.int64)
        self._gaps = np.zeros(0, dtype=np.int64)
        self._since = np.zeros(0, dtype=np.int64)
        # The round in which an open gap has to be judged, infinity where none is; and the first of them.
        self._due: Array = np.zeros(0)
        self._first_due = math.inf

    @property
    def all_present(self) -> bool:
        """Whether all slots were present in the latest round."""
        return bool(np.count_nonzero(self.present) == len(self.present))

    def extend(self, n: int, round_: int) -> None:
        """Append n slots that are present for the first time."""
        born = {"present": True, "_born": round_, "_since": -1, "vanished_at": -1, "_due": math.inf}
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(self, name, np.append(value, np.full(n, born.get(name, 0), dtype=value.dtype)))

    def keep(self, mask: Mask) -> None:
        """Drop all other slots."""
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(self, name, value[mask])

    def seen(self, round_: int) -> npt.NDArray[np.int64]:
        """Number of rounds before this one in which each slot was present, shape (d,)."""
        open_gap = np.where(self._since >= 0, round_ - self._since, 0)
        return round_ - self._born - self._absences - open_gap

    def update(self, present: Mask, round_: int, significance: float) -> tuple[Slots, Slots] | None:
        """Account for one round.

        Returns
        -------
        The slots that returned from the gone, and those that have vanished; None if there are none of either.

        """
        changed = np.flatnonzero(present != self.present)
        if not len(changed) and self._first_due > round_:
            return None
        limit = math.log(significance) - _ROUNDING if significance else -math.inf
        back = changed[present[changed]]
        returned = self._come(back, round_)
        self._go(changed[~present[changed]], round_, limit)
        vanished = self._judge(np.flatnonzero(self._due <= round_), round_, limit)
        self.present = present
        self._first_due = self._due.min(initial=math.inf)
        return (returned, vanished) if len(returned) or len(vanished) else None

    def _come(self, back: Slots, round_: int) -> Slots:
        """Close gaps; which of the slots had vanished."""
        returned: Slots = back[self.gone[back]]
        self._absences[back] += round_ - self._since[back]
        self._gaps[back] += 1
        self._since[back] = self.vanished_at[back] = -1
        self._due[back] = math.inf
        self.gone[back] = False
        return returned

    def _go(self, left: Slots, round_: int, limit: float) -> None:
        """Open gaps."""
        share = (self._absences[left] + 1) / (round_ - self._born[left] + 2)
        self._since[left] = round_
        self._due[left] = round_ + np.floor(limit / np.log(share))

    def _judge(self, due: Slots, round_: int, limit: float) -> Slots:
        """Decide about open gaps; which slots have vanished."""
        m, k, since = self._absences[due], self._gaps[due], self._since[due]
        n, gap = since - self._born[due] - m, round_ + 1 - since
        share = (m + 1) / (n + m + 2)
        spell, others = _SPELL_PRIOR * share + m - k, _SPELL_PRIOR * (1 - share) + k
        chances = np.stack(
            [
                special.betaln(n + 1, m + 1 + gap) - special.betaln(n + 1, m + 1),
                np.log(share) + special.betaln(spell + gap - 1, others) - special.betaln(spell, others),
            ]
        )
        factors = np.stack([(m + 1 + gap) / (n + m + 2 + gap), (spell + gap - 1) / (spell + others + gap - 1)])
        rounds_left = np.floor((limit - chances) / np.log(factors)).max(0) + 1
        is_lost = chances.max(0) < limit
        self._due[due] = np.where(is_lost, math.inf, round_ + rounds_left)
        lost: Slots = due[is_lost]
        self.vanished_at[lost] = round_
        self.gone[lost] = True
        return lost
