"""What is computed in every round, as functions over arrays: the version in Python and NumPy.

`_compiled` has functions of the same names, signatures and answers.
"""

from __future__ import annotations

import functools
import itertools
import math
import struct
from collections.abc import Callable

import numpy as np
from scipy import special
from scipy.linalg import blas, lapack

from ..values import LARGEST, Array, Key, Mask, Sample, number
from .forms import (
    LEFT,
    SCALE,
    TRACE,
    Ahead,
    FeatureForm,
    FirstOrder,
    Fourier,
    Given,
    Hedge,
    Integers,
    Linear,
    Nearest,
    Numbers,
    Resting,
    RuleForm,
    Same,
    TaskForm,
)

#: Types whose values are numbers at a glance.
_PLAIN = frozenset({float, int, bool, np.bool_, *(np.dtype(code).type for code in "fdbhilqBHILQ")})
_NAN = itertools.repeat(math.nan)
#: Weight, in rounds, of the share of rounds in which a key is present as evidence of how long its gaps last.
SPELL_PRIOR = 10.0
#: Bins of sizes, two for each factor of 2, and the power of 2 below which all sizes are in the first one.
BINS, SMALLEST = 40, -5
#: Values that a key must have had before it is judged.
LEAST = 200.0
#: What is left, after one more value, of the histogram and of the moments of the scores.
KEPT, KEPT_OF_SCORES = 0.9995, 0.999
#: What is left of the merits of a feature map after one more round, and of the mean loss of the latest rounds.
KEPT_OF_MERITS, KEPT_OF_TREND = 0.998, 0.98
#: The mantissa in the middle of a factor of 2, and the largest evidence.
HALF_WAY, MOST_EVIDENCE = math.sqrt(0.5), 1e30
#: A score moves its moments by no more than this, so that a change that is seen does not pass for a spell.
SCORE = 1.0
#: An entry is no farther from its mean than so many deviations.
FARTHEST = 1e6
#: A value counts for moments as at most this many standard deviations away from the mean.
WINSOR = 10.0
#: Values of an entry from which on its moments are robust to a single spike.
SETTLED = 10
#: Below this fraction of its former deviation an entry is assumed to have changed scale.
COLLAPSED = 1e-4
#: An entry whose deviation is below this is constant.
CONSTANT = 1e-150
#: So is one whose deviation is below this share of its mean: what varies is rounding.
ROUNDING = 1e-13
#: Penalties that are tried first where outputs are regressed on inputs, in units of one row.
PENALTIES = np.geomspace(1e-4, 1e3, 29)
#: The penalty of each input is estimated, and the common one has as much say as so many outputs.
COMMON = 5.0
#: Penalties are at rest where none of them moves by more than this share.
AT_REST = 0.02
#: Variance of the noise of an output is at least this.
LEAST_NOISE = 1e-6


def read(x: Sample, keys: list[Key], slots: dict[Key, int]) -> tuple[Array, dict[Key, float]]:
    """Row of a sample. Costs O(d).

    Parameters
    ----------
    x
        The sample.
    keys
        Keys by slot.
    slots
        Slots by key.

    Returns
    -------
    The values by slot, shape (d,), NaN where absent; and the values under keys that have no slot.

    Raises
    ------
    ValueError
        If a value is not a finite number, also under a key that is not known.

    """
    values = _read_at_once(x, keys, slots)
    return _read_one_by_one(x, keys, slots) if values is None else (values, {})


def _read_at_once(x: Sample, keys: list[Key], slots: dict[Key, int]) -> Array | None:
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
    n_present = np.count_nonzero(np.abs(values) <= LARGEST)
    if n_present == len(x):
        return values
    # Absent keys may be named as well, with a NaN. What is neither there nor NaN is too large.
    all_known = slots.keys() >= x.keys()
    return values if all_known and n_present == np.count_nonzero(values == values) else None


def _read_one_by_one(x: Sample, keys: list[Key], slots: dict[Key, int]) -> tuple[Array, dict[Key, float]]:
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
    return values, unknown


def account(
    values: Array,
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
    """Account for the keys that are absent from a round, as `recovery.presence.Presence` says.

    Parameters
    ----------
    values
        Values by slot, NaN where absent, shape (d,) as all arrays are.
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
    present = values == values
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


def residuals(
    scaled: Array, row: Array, mean: Array, precision: Array, usual: Array, limits: Array
) -> tuple[Array, int, bool]:
    """How far each entry of a row is from its mean given all others, in deviations of that. Costs O(d²).

    Parameters
    ----------
    scaled
        The row, completed and in the units of the law, shape (d,).
    row
        As it came, NaN where entries are absent, shape (d,).
    mean, precision
        Mean and inverse of the covariance of rows, shapes (d,) and (d, d).
    usual, limits
        How far entries usually are, and how far they may be, shapes (d,).

    Returns
    -------
    Shape (d,), NaN where entries are absent; the farthest of the entries that are beyond their limits, or -1 if none
    is; and whether all are as near as they usually are.

    """
    away = np.minimum(np.maximum(scaled - mean, -FARTHEST), FARTHEST)
    away = blas.dsymv(1.0, precision, away) / np.sqrt(precision.diagonal())
    size = np.abs(away)
    as_usual = not (size > usual).any()
    size[size <= limits] = 0.0
    worst = int(size.argmax())
    away[row != row] = math.nan
    return away, worst if size[worst] > 0.0 else -1, as_usual


def residuals_many(scaled: Array, mean: Array, precision: Array, usual: Array) -> tuple[Array, int]:
    """The residuals of rows, shape (n, d), and how many rows there are before the first with one that is not usual."""
    away = np.empty(scaled.shape)
    for n, row in enumerate(scaled):
        away[n], _, as_usual = residuals(row, row, mean, precision, usual, usual)
        if not as_usual:
            return away, n
    return away, len(scaled)


def judge(residuals: Array, limits: Array, level: float, histogram: Array, scores: Array, statistic: Array) -> Array:
    """Do residuals fit those before them, as `recovery.fit.Fit` asks? Costs O(nd), and O(d) for the histograms.

    Parameters
    ----------
    residuals
        A block of rounds, shape (n, d); NaN where there is none.
    limits
        Sizes above which a residual is evidence, but nothing is learned from it, shape (d,).
    level
        The statistic from which on nothing is learned from the block.
    histogram
        How many sizes there were in each bin, shape (d, BINS); from here on, what is written is the state.
    scores
        Of the scores: sums of squares and of products of neighbours, mean, and the latest one; shape (4, d).
    statistic
        The Shiryaev-Roberts statistic, shape (d,).

    Returns
    -------
    The largest statistic in the block, shape (d,).

    """
    d = len(statistic)
    size = np.abs(residuals)
    seen = size == size
    bins = np.where(seen, bin_of(np.where(seen, size, 0.0)), 0) + BINS * np.arange(d)
    up_to = histogram.cumsum(1)
    total = up_to[:, -1]
    below = up_to.ravel()[bins]
    above = total - below + histogram.ravel()[bins]
    e = (_mixture((above + 1.0) / (total + 1.0)) + _mixture((below + 1.0) / (total + 1.0))) / 2.0
    log_e = np.log(e)
    judged = seen & (total >= LEAST)
    learned = seen & (size <= limits)
    rho = scores[1] / np.maximum(scores[0], 1e-9) + 2.0 / np.sqrt(total + 1.0)
    rho = np.minimum(np.maximum(rho, 0.0), 0.98)
    grown = np.exp(log_e * (1.0 - rho) / (1.0 + rho))
    # The statistic of a key that was not there counts as well.
    peak, moments = np.where(judged.any(0), 0.0, statistic), scores.copy()
    for there, taken, gain, score in zip(judged, learned, grown, log_e):
        statistic[:] = np.where(there, np.minimum(gain * (1.0 + statistic), MOST_EVIDENCE), statistic)
        peak = np.maximum(peak, np.where(there, statistic, 0.0))
        off = np.minimum(np.maximum(score - moments[2], -SCORE), SCORE)
        new = np.stack(
            [
                KEPT_OF_SCORES * moments[0] + off * off,
                KEPT_OF_SCORES * moments[1] + off * moments[3],
                moments[2] + 0.01 * off,
                off,
            ]
        )
        moments = np.where(there & taken, new, moments)
    fits = peak < level
    scores[:] = np.where(fits, moments, scores)
    counts = np.bincount(bins[learned], minlength=histogram.size).reshape(d, BINS)
    kept = KEPT ** learned.sum(0)
    histogram[:] = np.where(fits[:, None], kept[:, None] * histogram + counts, histogram)
    return peak


def extremes(residuals: Array, limits: Array) -> tuple[Array, Integers, Mask]:
    """How far residuals go in a block of rounds. Costs O(nd).

    Parameters
    ----------
    residuals
        A block of rounds, shape (n, d); NaN where there is none.
    limits
        Sizes above which a residual is far, shape (d,).

    Returns
    -------
    The largest size of each key, and at most its limit; how many were far since the latest one that was not; and
    whether there was one that was not. Shapes (d,).

    """
    size = np.abs(residuals)
    near = size <= limits
    was_near: Mask = np.asarray(near.any(0))
    since = np.where(was_near, near[::-1].argmax(0), len(near))
    latest = np.arange(len(near))[::-1, None] < since
    largest = np.minimum(np.where(np.isnan(size), 0.0, size), limits).max(0, initial=0.0)
    return largest, ((size > limits) & latest).sum(0), was_near


def bin_of(size: Array) -> Integers:
    """The bins of some sizes, two for each factor of 2."""
    mantissa, exponent = np.frexp(size)
    bins = 2 * (exponent - SMALLEST) + (mantissa >= HALF_WAY)
    return np.where(size > 0.0, np.minimum(np.maximum(bins, 1), BINS - 1), 0).astype(np.int64)


def _mixture(p: Array) -> Array:
    """The mean of κ p^(κ - 1) over κ in [0, 1]."""
    # The limit at 1 is 1/2, next to which all digits are lost.
    p = np.minimum(p, 1.0 - 1e-6)
    log = np.log(p)
    mixture: Array = (1.0 - p + p * log) / (p * log * log)
    return mixture


def moments(
    rows: Array, n: Array, mean: Array, deviation: Array, variance: Array, memory: float, centered: bool
) -> tuple[Array, Array, Array, Mask]:
    """Moments of each entry after a block of rows, as `recovery.scaling.RowScaler` wants them. Costs O(kd).

    Parameters
    ----------
    rows
        The block, shape (k, d); NaN where absent.
    n, mean, deviation, variance
        Number of values before the block, their mean, the deviation in use, and the variance; shapes (d,).
    memory
        How many values count.
    centered
        Whether the variance is that around the mean, or that around 0 of what is not 0.

    Returns
    -------
    Number of values, mean and variance after the block, and which entries started anew; shapes (d,).

    """
    shifts = rows - mean
    seen = ~np.isnan(shifts)
    if not centered:
        # Absent entries say nothing about the size of the others.
        seen &= shifts != 0
    shifts[~seen] = 0.0
    new = seen.sum(0)
    # Clip spikes, unless most rows of the block exceed the limit.
    limit = WINSOR * deviation
    far = np.abs(shifts) > limit
    free = (n <= SETTLED) | (limit < CONSTANT) | ((2 * far.sum(0) > new) & (new > SETTLED))
    shifts = np.where(far & ~free, np.copysign(limit, shifts), shifts)
    n = n + new
    total = np.minimum(n, np.maximum(memory, new))
    share = np.divide(new, total, out=np.zeros_like(total), where=new > 0)
    average = np.divide(shifts.sum(0), new, out=np.zeros_like(total), where=new > 0)
    apart = np.where(seen, shifts - average, 0.0)
    within = np.divide((apart * apart).sum(0), new, out=np.zeros_like(total), where=new > 0)
    calm = (new >= SETTLED) & (within < COLLAPSED**2 * variance)
    collapsed: Mask = calm & (within > np.square(ROUNDING * (np.abs(mean) + np.abs(average))))
    n[collapsed], share[collapsed] = new[collapsed], 1.0
    # Variance within both parts, and between their means (or from the origin, where nothing is centered).
    between = (1.0 - share if centered else 1.0) * average * average
    variance = (1.0 - share) * variance + share * (within + between)
    return n, mean + share * average if centered else mean, variance, collapsed


def standardize(row: Array, mean: Array, inverse: Array, limit: float) -> Array:
    """(row - mean) · inverse, clipped at ± limit; NaN where it was. Shapes (d,), or (n, d) for the row."""
    scaled = row - mean
    scaled *= inverse
    return clip(scaled, limit)


def view(row: Array, mean: Array, inverse: Array, limit: float) -> tuple[Array, bool]:
    """A row, standardized, behind a leading 1, shape (1, d + 1); and whether nothing is absent from it."""
    view = np.ones((1, len(row) + 1))
    scaled = view[0, 1:]
    scaled[:] = standardize(row, mean, inverse, limit)
    # Scaled values are finite, so only a NaN can hide in this sum of squares.
    return view, bool(scaled.dot(scaled) < math.inf)


def views(view: Array, filled: Array, limit: float, n_previous: int) -> Array:
    """The ways to see a row, of shape (1, d + 1) behind a leading 1: as it is present, completed, and its fresh part.

    Parameters
    ----------
    view
        The row, standardized; NaN where absent.
    filled
        What is absent from it, at its place, shape (d,); clipped at ± limit.
    n_previous
        Number of entries that the fresh part leaves out, from the first one on.

    Returns
    -------
    Shape (3, d + 1). What is not seen is 0, the mean.

    """
    absent = np.isnan(view[0, 1:])
    views = np.repeat(view, 3, axis=0)
    views[0, 1:][absent] = 0.0
    views[1:, 1:][:, absent] = clip(filled[absent], limit)
    views[2, 1 : n_previous + 1] = 0.0
    return views


def clip(row: Array, limit: float) -> Array:
    """A row clipped at ± limit, NaN where it was; of any shape."""
    clipped = np.minimum(row, limit)
    return np.maximum(clipped, -limit, out=clipped)


# What experts predict, and how much each of them counts.


def linear_scores(inputs: Array, weights: Array, n_groups: int) -> Array:
    """Scores of linear models.

    Parameters
    ----------
    inputs
        What the models read, shape (1, inputs), or (views, inputs) if the views differ.
    weights
        Shape (all inputs, groups, views, columns).
    n_groups
        How many groups of models have scores; those of the others are 0.

    Returns
    -------
    Shape (groups · views, columns).

    """
    _, groups, views, columns = weights.shape
    weights = weights[: inputs.shape[1], :n_groups]
    scores = np.zeros((groups, views, columns))
    if len(inputs) == 1:
        scores[:n_groups] = np.tensordot(inputs[0], weights, 1)
    else:
        scores[:n_groups] = np.einsum("vi,igvc->gvc", inputs, weights)
    return scores.reshape(groups * views, columns)


def predictions(scores: Array, task: TaskForm) -> Array:
    """What is averaged over the experts, from their scores; both of shape (n, columns).

    Probabilities are those of all classes but the first, whose score is 0.
    """
    if isinstance(task, Numbers):
        return scores
    if scores.shape[1] == 1:
        odds: Array = special.expit(scores)
        return odds
    top = np.maximum(scores.max(1, initial=0.0, keepdims=True), 0.0)
    odds = np.exp(scores - top)
    odds /= odds.sum(1, keepdims=True) + np.exp(-top)
    return odds


def weigh(strengths: Array, awake: Array) -> Array:
    """Weights that sum to 1, 0 where asleep, all awake alike if their strengths say nothing; all of shape (n,)."""
    total = float(strengths.dot(awake))
    if not 0.0 < total < math.inf:
        strengths, total = np.ones_like(awake), float(awake.sum()) or 1.0
    weights: Array = strengths * awake
    weights /= total
    return weights


# What it costs to be wrong, and what follows from it.


def losses(predicted: Array, target: Array, task: TaskForm) -> Array:
    """Losses in [0, 1] of predictions of shape (n, columns) for a target of shape (columns,); shape (n,).

    The Brier loss of probabilities, halved, and the squared error of numbers, cut.
    """
    if isinstance(task, Numbers):
        numbers: Array = np.square(np.minimum(np.abs(predicted[:, 0] - target[0]) / task.most, 1.0))
        return numbers
    off = predicted - target
    squares = off * off
    halved: Array = squares[:, 0] if off.shape[1] == 1 else 0.5 * (squares.sum(1) + np.square(off.sum(1)))
    return halved


def errors(predicted: Array, target: Array, task: TaskForm) -> Array:
    """How each score should move, shape (n, columns).

    For probabilities it is the Newton direction of the logistic loss at even odds; an error of a number is clipped.
    """
    off = target - predicted
    if isinstance(task, Numbers):
        return clip(off, task.farthest)
    n = off.shape[1]
    return off if n == 1 else (off + off.sum(1, keepdims=True)) * (n / (n + 1))


def curvature(mixture: Array, target: Array, task: TaskForm) -> float:
    """Second derivative of the learners' loss by a score, at predictions of shape (columns,).

    Of the logistic loss it is the mean over the scores; the squared error of a number that is clipped counts less.
    """
    if isinstance(task, Numbers):
        far = max(abs(float(target[0] - mixture[0])), task.farthest)
        return task.farthest / far if task.has_unit else 0.0
    shares: list[float] = mixture.tolist()
    first = 1.0 - sum(shares)
    return (1.0 - first * first - sum(p * p for p in shares)) / (len(shares) + 1)


def regret(lost: Array, loss: float, awake: Array, hedge: Hedge) -> None:
    """Learn from the losses of a round, all of shape (n,), and that of the mixture."""
    forgetting, regrets, magnitudes, _, _ = hedge
    # Plain floats: for a handful of experts they are faster than arrays.
    loss = float(loss)
    gained = [(loss - own) * share if share else 0.0 for own, share in zip(lost.tolist(), awake.tolist())]
    regrets[:] = [forgetting * known + more for known, more in zip(regrets.tolist(), gained)]
    magnitudes[:] = [forgetting * known + abs(more) for known, more in zip(magnitudes.tolist(), gained)]
    strengthen(hedge)


def strengthen(hedge: Hedge) -> None:
    """Compute the strengths from regrets and magnitudes."""
    _, regrets, magnitudes, prior, strengths = hedge
    pairs = [(r, 3.0 * magnitude + 3.0) for r, magnitude in zip(regrets.tolist(), magnitudes.tolist())]
    uppers = [(r + 1.0) * (r + 1.0) / scale if r > -1.0 else 0.0 for r, scale in pairs]
    lowers = [(r - 1.0) * (r - 1.0) / scale if r > 1.0 else 0.0 for r, scale in pairs]
    # Φ overflows at an exponent of 710. Only ratios of weights matter, so the largest exponent is taken out.
    top, exp = max(uppers, default=0.0), math.exp
    strengths[:] = [q * (exp(u - top) - exp(v - top)) for q, u, v in zip(prior.tolist(), uppers, lowers)]


#: Fold the scale into the matrix once it exceeds this, to avoid overflow.
LARGE = 1e6
#: Rounding errors fade as the samples do. Where nothing fades they stay, so P comes to rest where it is less than this
#: share of what it was before anything was learned.
CERTAIN = 1e-9


def directions(views: Array, bend: float, learn_from: int, rule: RuleForm) -> tuple[Array, Array]:
    """Directions P x for the views x of a sample, and xᵀ P x, from which P learns.

    Parameters
    ----------
    views
        Shape (views, n).
    bend
        Second derivative h of the loss by the score, times the weight of the sample.
    learn_from
        The view to learn from.
    rule
        P, which moves.

    Returns
    -------
    Shapes (views, n) and (views,).

    """
    if isinstance(rule, Given):
        return rule.directions, rule.squares
    if isinstance(rule, FirstOrder):
        return rule.rate * views, rule.rate * np.square(views).sum(1)
    forgetting, inverse, numbers = rule
    scale, _, trace, most = numbers.tolist()
    full = inverse.ndim == 2
    found = np.array([blas.dsymv(scale, inverse, view) for view in views]) if full else scale * inverse * views
    squares: Array = (views * found).sum(1)
    row, square = views[learn_from], float(squares[learn_from])
    fades = forgetting < 1.0 and trace * scale < most
    if not fades and square * len(row) <= CERTAIN * most * float(row.dot(row)):
        return found, squares
    if full:
        step = found[learn_from]
        shrink = -bend / (scale * (forgetting + bend * square))
        blas.dsyr(shrink, step, a=inverse, overwrite_a=1)
        numbers[TRACE] = trace = trace + shrink * float(step.dot(step))
    else:
        inverse[:] = 1.0 / (1.0 / inverse + (bend * scale / forgetting) * row * row)
        numbers[TRACE] = trace = float(inverse.sum())
    # Directions that are not seen for long must not become more uncertain than they were at first.
    if forgetting < 1.0 and trace * scale < most:
        numbers[SCALE] /= forgetting
        numbers[LEFT] *= forgetting
        if numbers[SCALE] > LARGE:
            inverse *= numbers[SCALE]
            numbers[SCALE] = 1.0
            numbers[TRACE] = inverse.trace() if full else inverse.sum()
    return found, squares


def learn_linear(inputs: Array, bend: float, learn_from: int, off: Array, experts: Linear) -> None:
    """Move linear models by their errors: w ← w + P x · error / (λ + h xᵀ P x), with P block by block.

    Parameters
    ----------
    inputs
        What the models read, shape (1, inputs), or (views, inputs) if the views differ.
    bend, learn_from
        As for `directions`.
    off
        How each score should move, shape (all heads · rules · views, columns).
    experts
        The models, which move.

    """
    weights, n_rules = experts.weights, len(experts.rules[0])
    moves = np.empty((n_rules, *inputs.shape))
    damping = np.array([np.full(len(inputs), _forgetting(rule)) for rule in experts.rules[0]])
    apart = off.reshape(weights.shape[1] // n_rules, n_rules, *weights.shape[2:])
    start = 0
    for k, (block, end) in enumerate(zip(experts.rules, experts.ends)):
        for r, rule in enumerate(block):
            moves[r, :, start:end], squares = directions(inputs[:, start:end], bend, learn_from, rule)
            damping[r] += bend * squares
        start = end
        if k in experts.heads:
            head = experts.heads.index(k)
            gains = (moves[:, :, :end] / damping[:, :, None]).transpose(2, 0, 1)
            weights[:end, n_rules * head : n_rules * (head + 1)] += gains[..., None] * apart[head]


def _forgetting(rule: RuleForm) -> float:
    return 1.0 if isinstance(rule, FirstOrder) else rule.forgetting


# Functions of a row.


#: Squared distances below this share of the mean one are rounding.
SAME = 1e-9


def features(rows: Array, form: FeatureForm) -> Array:
    """Features of rows, shapes (k, d) and (k, n)."""
    if isinstance(form, Same):
        return rows
    if isinstance(form, Fourier):
        waves: Array = np.cos(rows @ form.frequencies.T + form.phases) * form.heights
        return waves
    there = slice(int(form.counts[0]))
    if not there.stop:
        return np.zeros((len(rows), form.outcomes.shape[1]))
    apart = form.squares[there] - 2.0 * (rows @ form.rows[there].T) + np.square(rows).sum(1)[:, None]
    # Rows that are the same but for rounding count alike.
    apart = np.maximum(apart, SAME * (1.0 + apart.mean(1, keepdims=True)))
    weights = form.weights[there] * np.square(apart.min(1, keepdims=True) / apart)
    means: Array = weights @ form.outcomes[there] / weights.sum(1, keepdims=True)
    return means


def remember(row: Array, outcome: Array, weight: float, form: Nearest) -> None:
    """Keep a row, of shape (d,), and its outcome; where there is no more room, in place of the oldest one."""
    known, oldest = form.counts.tolist()
    if known < len(form.rows):
        at, form.counts[0] = known, known + 1
    else:
        at, form.counts[1] = oldest, (oldest + 1) % len(form.rows)
    form.rows[at], form.outcomes[at] = row, outcome
    form.squares[at], form.weights[at], form.earlier[at] = row @ row, weight, False


# Scores in another unit: what was s is factor · s + shift.


def rescale_scores(weights: Array, of_outcomes: Mask, factor: float, shift: float) -> None:
    """Let linear models have scores in the new unit.

    Parameters
    ----------
    weights
        Those of all models, shape (inputs, …); the first input is constant.
    of_outcomes
        Which inputs have the unit of scores, and are in the new one already, shape (inputs,).
    factor, shift
        What leads to the new unit.

    """
    constant = shift * (1.0 - weights[of_outcomes].sum(0))
    weights[~of_outcomes] *= factor
    weights[0] += constant


def rescale_outcomes(outcomes: Array, factor: float, shift: float, limit: float) -> None:
    """Express outcomes in the new unit, clipped at ± a limit; what is lost in that is 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        outcomes *= factor
        outcomes += shift
    outcomes[np.isnan(outcomes)] = 0.0
    np.minimum(np.maximum(outcomes, -limit, out=outcomes), limit, out=outcomes)


# A whole round, for linear experts whose parts are all of a known form.


def ask(
    views: Array, limit: float, experts: Linear, hedge: Hedge, task: TaskForm
) -> tuple[Array, Array, Array, Array, Array]:
    """What is predicted for a sample.

    Parameters
    ----------
    views
        Standardized rows behind a leading 1, shape (1, d + 1), or (views, d + 1) if the views differ.
    limit
        What the experts read is clipped at ± this.
    experts, hedge, task
        What predicts, what weighs, and what scores mean.

    Returns
    -------
    What the experts predict, shape (n, columns), and 1 for those awake, 0 for those asleep, shape (n,); what they read,
    shape (1, inputs) or (views, inputs); how much each counts, shape (n,); and the mixture, shape (columns,).

    """
    rows = clip(np.ascontiguousarray(views[:, 1:]), limit)
    inputs = np.concatenate([np.ones((len(rows), 1)), *(features(rows, form) for form in experts.maps)], axis=1)
    predicted = predictions(linear_scores(inputs, experts.weights, n_groups(experts)), task)
    weights = weigh(hedge.strengths, experts.awake)
    return predicted, experts.awake, inputs, weights, weights.dot(predicted)


def play(
    inputs: Array,
    learn_from: int,
    predicted: Array,
    shares: Array,
    mixture: Array,
    target: Array,
    weight: float,
    experts: Linear,
    hedge: Hedge,
    task: TaskForm,
) -> None:
    """Learn from a sample for which this was predicted; `learn_from` is the view from which rules learn."""
    compare(predicted, shares, target, experts, functools.partial(losses, task=task))
    lost, loss = losses(predicted, target, task), losses(mixture[None], target, task)
    off, bend = errors(predicted, target, task), curvature(mixture, target, task)
    regret(lost, loss[0], experts.awake, hedge)
    learn_linear(inputs, weight * bend, learn_from, weight * off, experts)


def play_many(
    views: Array,
    limit: float,
    targets: Array,
    outcomes: Array,
    samples: Array,
    ahead: Ahead,
    hedge: Hedge,
    task: TaskForm,
) -> tuple[int, Array, int]:
    """Predict and learn samples one after another, each of which has one view, and remember their rows.

    Parameters
    ----------
    views
        Standardized rows behind a leading 1, shape (n, d + 1).
    limit
        What the experts read is clipped at ± this.
    targets
        What the predictions should have been, shape (n, columns).
    outcomes
        What came of the rows, shape (n, outcomes).
    samples
        Weights of the samples, shape (n,).
    ahead
        How many can be played in one go, and what predicts.
    hedge, task
        What weighs, and what scores mean.

    Returns
    -------
    How many were played; how much each expert counted in the latest round, shape (experts,); and how many heads play
    the next one, as `heads_to_play`.

    """
    shares, playing = np.zeros(len(ahead.lineups[-1].awake)), ahead.playing
    for n in range(min(ahead.n, len(views))):
        experts = ahead.lineups[playing - 1]
        predicted, _, inputs, shares, mixture = ask(views[n : n + 1], limit, experts, hedge, task)
        weight = float(samples[n])
        play(inputs, 0, predicted, shares, mixture, targets[n], weight, experts, hedge, task)
        if weight > 0.0:
            row = clip(views[n, 1:], limit)
            for each in ahead.nearest:
                remember(row, outcomes[n], weight, each)
        if ahead.resting is not None:
            heads = heads_to_play(playing, ahead.played + n + 1, experts.merits, experts.trend, ahead.resting)
            if heads == 0:
                return n + 1, shares, 0
            playing = heads
    return min(ahead.n, len(views)), shares, playing


def heads_to_play(playing: int, played: int, merits: Array, trend: Array, resting: Resting) -> int:
    """How many heads play the next round, when so many did the latest and so many rounds were played.

    It is 0 if the loss has become so much worse that all have to be tried anew.
    """
    heads = int(merits.shape[1])
    if played < resting.trial or played % resting.every == 0:
        return heads
    if trend[0] > resting.worse * trend[1]:
        return 0
    if played != resting.trial and played % resting.every != 1:
        return playing
    while heads > 1 and merits[0, heads - 1] <= resting.min_gain * merits[1, heads - 1]:
        heads -= 1
    return heads


def n_groups(experts: Linear) -> int:
    """Number of heads times rules."""
    return len(experts.heads) * len(experts.rules[0])


def compare(
    predicted: Array, shares: Array, target: Array, experts: Linear, judge: Callable[[Array, Array], Array]
) -> None:
    """Note by how much the models of each head make the mixture better than those of the heads before it.

    And how large the loss of the mixture is, of late and over a longer time.
    """
    n_heads, size = len(experts.heads), len(experts.rules[0]) * experts.weights.shape[2]
    ends = [size * (h + 1) for h in range(n_heads)]
    mixtures = [weigh(shares[:end], experts.awake[:end]) @ predicted[:end] for end in ends]
    lost = judge(np.array(mixtures), target)
    before = np.append(0.0, lost[:-1])
    experts.merits[:, :n_heads] *= KEPT_OF_MERITS
    experts.merits[:, :n_heads] += before - lost, before
    kept = np.array([KEPT_OF_TREND, KEPT_OF_MERITS]) if experts.trend[1] else 0.0
    experts.trend[:] = kept * experts.trend + (1.0 - kept) * lost[-1]


# What is absent from a row, given what is there.


def complete(row: Array, absent: Mask, mean: Array, covariance: Array | None, precision: Array) -> Array:
    """A row in which the absent entries are their means given the others; as `expect`, for one row of shape (d,)."""
    hidden = np.where(absent, np.nan, row)
    expected, _ = expect(hidden[None], mean, covariance, precision, np.ones(1))
    completed: Array = expected[0]
    return completed


def expect(rows: Array, mean: Array, covariance: Array | None, precision: Array, weights: Array) -> tuple[Array, Array]:
    """Rows as they are expected under a normal law.

    Parameters
    ----------
    rows
        Shape (n, d), NaN where absent.
    mean
        Shape (d,).
    covariance
        Shape (d, d); None if only its inverse is known.
    precision
        The inverse of the covariance, shape (d, d).
    weights
        How much each row counts, shape (n,).

    Returns
    -------
    The rows with absent entries at their means given the others, shape (n, d); and the weighted sum of the covariances
    of what is absent given the others, shape (d, d).

    """
    missing = rows != rows
    members: dict[bytes, list[int]] = {}
    for n in np.flatnonzero(missing.any(1)).tolist():
        members.setdefault(missing[n].tobytes(), []).append(n)
    expected, spread = rows.copy(), np.zeros(precision.shape)
    for alike in members.values():
        absent = missing[alike[0]]
        a, o = np.flatnonzero(absent), np.flatnonzero(~absent)
        apart = (rows[alike][:, o] - mean[o]).T
        if covariance is None or 2 * len(a) <= len(mean):
            left = inverse(precision[a[:, None], a])
            pull = -left @ (precision[a[:, None], o] @ apart)
        else:
            gain = covariance[a[:, None], o] @ inverse(covariance[o[:, None], o])
            left = covariance[a[:, None], a] - gain @ covariance[o[:, None], a]
            pull = gain @ apart
        expected[np.array(alike)[:, None], a] = mean[a] + pull.T
        spread[a[:, None], a] += weights[alike].sum() * (left + left.T) / 2.0
    return expected, spread


# How some entries of rows follow from the others.


def regress(scatter: Array, n: float, penalties: Array, steps: int) -> tuple[Array, Array, Array, Array]:
    """Bayesian regression of the last entries of rows on the first p, as `recovery.overlap.regress` says. Costs O(d³).

    Parameters
    ----------
    scatter
        Of the rows around their mean, shape (d, d).
    n
        Number of rows.
    penalties
        Where to start from, shape (p,).
    steps
        How often penalties are estimated, at most.

    Returns
    -------
    Coefficients, their uncertainty in units of the noise, the noise, and the penalties; shapes (p, d - p), (p, p),
    (d - p,) and (p,).

    """
    p = len(penalties)
    inputs, across = scatter[:p, :p], scatter[:p, p:]
    size = scatter.diagonal()[p:]
    freedom, width = max(n - 1.0, 1.0), len(size)
    for step in range(steps + 1):
        precision = inputs.copy()
        precision.flat[:: p + 1] += penalties
        uncertainty = inverse(precision)
        coefficients = uncertainty @ across
        noise = np.maximum(size - (across * coefficients).sum(0), LEAST_NOISE * freedom) / freedom
        if step == steps or not p:
            break
        moved = (coefficients**2 / noise).sum(1) + width * uncertainty.diagonal()
        common = p * width / moved.sum()
        better = ((width + COMMON) / (moved + COMMON / common)).clip(PENALTIES[0], PENALTIES[-1])
        if np.abs(np.log(better / penalties)).max() < AT_REST:
            break
        penalties = better
    return coefficients, uncertainty, noise, penalties


def best_penalty(scatter: Array, n: float, p: int) -> float:
    """The penalty of the largest marginal likelihood if it is the same for all p inputs, from a grid. Costs O(d³)."""
    strengths, directions = np.linalg.eigh(scatter[:p, :p])
    strengths = np.maximum(strengths, 0.0)
    size, freedom = scatter.diagonal()[p:], max(n - 1.0, 1.0)
    shown = (directions.T @ scatter[:p, p:]) ** 2
    stiff = strengths[:, None] + PENALTIES
    rest = np.maximum(size[:, None] - shown.T @ (1.0 / stiff), LEAST_NOISE * freedom)
    evidence = -len(size) * np.log(stiff / PENALTIES).sum(0) - freedom * np.log(rest).sum(0)
    return float(PENALTIES[evidence.argmax()])


def inverse(matrix: Array) -> Array:
    """Inverse of a positive definite matrix."""
    if not len(matrix):
        return matrix
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed:
        return np.asarray(np.linalg.pinv(matrix, hermitian=True), dtype=np.float64)
    lower, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    result: Array = lower + lower.T
    result.flat[:: len(result) + 1] /= 2.0
    return result
