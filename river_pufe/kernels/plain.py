"""What is computed in every round, as functions over arrays: the version in Python and NumPy.

`_compiled` has functions of the same names, signatures and answers.
"""

from __future__ import annotations

import itertools
import math
import struct
import typing

import numpy as np
import numpy.typing as npt
from scipy import special

from ..values import LARGEST, Array, Key, Mask, Sample, number

Integers = npt.NDArray[np.int64]

#: Types whose values are numbers at a glance.
_PLAIN = frozenset({float, int, bool, np.bool_, *(np.dtype(code).type for code in "fdbhilqBHILQ")})
_NAN = itertools.repeat(math.nan)
#: Weight, in rounds, of the share of rounds in which a key is present as evidence of how long its gaps last.
SPELL_PRIOR = 10.0


class Row(typing.NamedTuple):
    """The values of a sample by slot.

    Parameters
    ----------
    values
        Shape (d,); NaN where absent.
    present
        Which slots have a value in the sample, shape (d,).
    unknown
        The values under keys that have no slot.

    """

    values: Array
    present: Mask
    unknown: dict[Key, float]


def read(x: Sample, keys: list[Key], slots: dict[Key, int]) -> Row:
    """Row of a sample, given the keys by slot and the slots by key. Costs O(d).

    Raises
    ------
    ValueError
        If a value is not a finite number, also under a key that is not known.

    """
    return _read_at_once(x, keys, slots) or _read_one_by_one(x, keys, slots)


def _read_at_once(x: Sample, keys: list[Key], slots: dict[Key, int]) -> Row | None:
    """Row of a dict of plain numbers under known keys; None for any other sample."""
    # Other mappings may make up values of keys that are not there.
    if type(x) is not dict:
        return None
    found = tuple(map(x.get, keys, _NAN))
    if not _PLAIN.issuperset(map(type, found)):
        return None
    try:
        values = np.frombuffer(struct.pack(f"{len(found)}d", *found))
    except struct.error:  # an int beyond the range of floats
        return None
    present = np.abs(values) <= LARGEST
    n_present = np.count_nonzero(present)
    if n_present == len(x):
        return Row(values, present, {})
    # Absent keys may be named as well, with a NaN. What is neither there nor NaN is too large.
    all_known = slots.keys() >= x.keys()
    return Row(values, present, {}) if all_known and n_present == np.count_nonzero(values == values) else None


def _read_one_by_one(x: Sample, keys: list[Key], slots: dict[Key, int]) -> Row:
    """Row of any sample."""
    values = np.full(len(keys), math.nan)
    unknown = {}
    for key, value in x.items():
        reading = number(key, value)
        slot = slots.get(key)
        if slot is not None:
            values[slot] = reading
        elif not math.isnan(reading):
            unknown[key] = reading
    return Row(values, ~np.isnan(values), unknown)


def account(
    present: Mask,
    round_: int,
    limit: float,
    before: Mask,
    gone: Mask,
    vanished_at: Integers,
    born: Integers,
    absences: Integers,
    gaps: Integers,
    since: Integers,
    due: Array,
) -> tuple[list[int], list[int]]:
    """Account for the keys that are present in a round, as `recovery.presence.Presence` says.

    Parameters
    ----------
    present
        Which slots are present, shape (d,) as all arrays are.
    round_
        Number of the round.
    limit
        Log-probability below which a gap means that a key has vanished.
    before
        Which slots were present in the round before; from here on, what is written is the state.
    gone
        Which slots have vanished.
    vanished_at
        In which round that was clear, -1 where it is not.
    born
        In which round each slot was present for the first time.
    absences
        Rounds of the gaps that are over.
    gaps
        Their number.
    since
        In which round the open gap began, -1 where none is open.
    due
        In which round an open gap has to be judged, infinity where none is.

    Returns
    -------
    The slots that returned from the gone, and those that have vanished.

    """
    changed = np.flatnonzero(present != before)
    returned: list[int] = []
    if len(changed):
        back, left = changed[present[changed]], changed[before[changed]]
        returned = back[gone[back]].tolist()
        absences[back] += round_ - since[back]
        gaps[back] += 1
        since[back] = vanished_at[back] = -1
        due[back] = math.inf
        gone[back] = False
        share = (absences[left] + 1) / (round_ - born[left] + 2)
        since[left] = round_
        due[left] = round_ + np.floor(limit / np.log(share))
        before[:] = present
    judged = np.flatnonzero(due <= round_)
    if not len(judged):
        return returned, []
    gap = round_ + 1 - since[judged]
    m, k = absences[judged], gaps[judged]
    n = since[judged] - born[judged] - m
    share = (m + 1) / (n + m + 2)
    spell, others = SPELL_PRIOR * share + m - k, SPELL_PRIOR * (1 - share) + k
    chances = np.stack(
        [
            special.betaln(n + 1, m + 1 + gap) - special.betaln(n + 1, m + 1),
            np.log(share) + special.betaln(spell + gap - 1, others) - special.betaln(spell, others),
        ]
    )
    factors = np.stack([(m + 1 + gap) / (n + m + 2 + gap), (spell + gap - 1) / (spell + others + gap - 1)])
    is_lost = chances.max(0) < limit
    due[judged] = np.where(is_lost, math.inf, round_ + 1 + np.floor((limit - chances) / np.log(factors)).max(0))
    lost = judged[is_lost]
    vanished_at[lost] = round_
    gone[lost] = True
    return returned, lost.tolist()


def strengths_of(regrets: Array, magnitudes: Array, prior: Array) -> Array:
    """How much experts count by AdaNormalHedge, up to a factor; all of shape (n,)."""
    # Plain floats: for a handful of experts they are faster than arrays.
    pairs = [(r, 3.0 * magnitude + 3.0) for r, magnitude in zip(regrets.tolist(), magnitudes.tolist())]
    uppers = [(r + 1.0) * (r + 1.0) / scale if r > -1.0 else 0.0 for r, scale in pairs]
    lowers = [(r - 1.0) * (r - 1.0) / scale if r > 1.0 else 0.0 for r, scale in pairs]
    # Φ overflows at an exponent of 710. Only ratios of weights matter, so the largest exponent is taken out.
    top, exp = max(uppers, default=0.0), math.exp
    return np.array([q * (exp(u - top) - exp(v - top)) for q, u, v in zip(prior.tolist(), uppers, lowers)])
