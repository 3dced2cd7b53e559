"""When is a probability high enough for an alarm?"""

from __future__ import annotations

import math

import numpy as np

from .ranking import bucket, least

_DAY = 86400.0
#: What is remembered: the samples of this many alarms, but at least this many samples.
_ALARMS, _SAMPLES = 20, 500
#: By which factor the quantile is corrected at most.
_CORRECTION = 2.0
#: Samples between two looks at the histogram.
_OFTEN = 50


class Budget:
    """A threshold that a given number of samples a day exceed, in the long run.

    It is the quantile of the latest probabilities that leaves as many above it as alarms are wanted, given the number
    of samples per day, and somewhat higher or lower if there were too many or too few alarms lately. It remembers the
    samples of some twenty to forty alarms, at least five hundred, so that it follows drift and forgets what a model
    said before it had learned anything.

    **When to use it.** Where somebody has to look at each alarm, and has time for this many.

    A sample costs O(1) amortized.

    Parameters
    ----------
    per_day
        How many alarms a day are wanted.

    Attributes
    ----------
    threshold
        The threshold at the moment; infinite as long as less than 50 samples were seen, or no time has passed.

    Examples
    --------
    >>> from river_pufe.cli.alarms import Budget
    >>> budget = Budget(per_day=2)
    >>> n_alarms = 0
    >>> for minute in range(0, 14 * 24 * 60, 10):
    ...     p = (minute * 7919 % 10007) / 10007
    ...     n_alarms += p >= budget.threshold
    ...     budget.update(p, 60.0 * minute)
    >>> n_alarms
    22

    """

    def __init__(self, per_day: float) -> None:
        self.per_day = per_day
        self.threshold = math.inf
        self._memory = float(_SAMPLES)
        self._counts = np.zeros(1024)
        self._n = self._total = 0
        self._n_alarms = 0.0
        self._first: float | None = None
        self._latest = 0.0

    def update(self, p: float, at: float) -> None:
        """Account for the probability of a sample, and its time in seconds."""
        if self._first is None:
            self._first = at
        self._latest = max(self._latest, at)
        self._n_alarms += p >= self.threshold
        self._counts[bucket(p)] += 1
        self._n += 1
        self._total += 1
        if self._n >= 2 * self._memory:
            self._counts /= 2
            self._n_alarms /= 2
            self._n //= 2
        if self._total % _OFTEN == 0:
            self._set()

    def _set(self) -> None:
        seconds = self._latest - (self._first or 0.0)
        if seconds <= 0:
            return
        share = self.per_day * seconds / _DAY / self._total
        self._memory = max(_SAMPLES, _ALARMS / max(share, 1e-9))
        missed = (share * self._n + 1.0) / (self._n_alarms + 1.0)
        share *= min(max(missed, 1.0 / _CORRECTION), _CORRECTION)
        above = self._counts[::-1].cumsum()[::-1]
        # The lowest bucket above which there are no more than wanted.
        number = int(np.argmax(above <= share * above[0]))
        self.threshold = least(number) if above[number] <= share * above[0] else math.inf
