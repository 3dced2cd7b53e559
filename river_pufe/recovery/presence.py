"""Has a key vanished, or is it only absent for a while?"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..values import Array, Mask

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
        # The round in which an open gap has to be judged, infinity where none is.
        self._due: Array = np.zeros(0)

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

    def update(self, values: Array, round_: int, significance: float) -> tuple[list[int], list[int]]:
        """Account for the values of one round, NaN where absent.

        Returns
        -------
        The slots that returned from the gone, and those that have vanished.

        """
        limit = math.log(significance) - _ROUNDING if significance else -math.inf
        return kernels.account(
            values,
            round_,
            limit,
            self.present,
            self.gone,
            self.vanished_at,
            self._born,
            self._absences,
            self._gaps,
            self._since,
            self._due,
        )
