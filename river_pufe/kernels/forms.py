"""In what form do kernels know the parts of a model?"""

from __future__ import annotations

import typing

import numpy as np
import numpy.typing as npt

from ..values import Array, Mask

Integers = npt.NDArray[np.int64]


class FirstOrder(typing.NamedTuple):
    """Steps of a constant rate, P = rate · I."""

    rate: float


class SecondOrder(typing.NamedTuple):
    """Steps of recursive least squares.

    Parameters
    ----------
    forgetting
        Factor by which the past fades in a round.
    inverse
        P = scale · inverse, of which only the upper triangle is up to date, shape (n, n), in the order of Fortran; or
        its diagonal alone, shape (n,).
    numbers
        The scale, the share of the prior that is left, the trace of the inverse, and what the trace of P was before
        anything was learned; shape (4,).

    """

    forgetting: float
    inverse: Array
    numbers: Array


class Given(typing.NamedTuple):
    """Steps that a rule has computed itself.

    Parameters
    ----------
    forgetting
        Factor by which the past fades in a round.
    directions
        P x for each view x of a sample, shape (views, n).
    squares
        xᵀ P x for each of them, shape (views,).

    """

    forgetting: float
    directions: Array
    squares: Array


RuleForm = FirstOrder | SecondOrder | Given
#: Positions in the numbers of a `SecondOrder`.
SCALE, LEFT, TRACE, MOST = range(4)


class Same(typing.NamedTuple):
    """The row itself."""


class Fourier(typing.NamedTuple):
    """heights · cos(frequencies · row + phases); shapes (n, d), (n,) and (n,)."""

    frequencies: Array
    phases: Array
    heights: Array


class Nearest(typing.NamedTuple):
    """Mean outcomes of earlier rows, which count as r⁻⁴ at a distance r.

    Parameters
    ----------
    rows
        Room for rows, shape (n, d).
    squares
        Squares of their lengths, shape (n,).
    outcomes
        Their outcomes, shape (n, outcomes).
    weights
        How much each of them counts at equal distances, shape (n,).
    earlier
        Which of them are of an earlier space, shape (n,).
    counts
        How many there are, and which of them is the oldest once there is no more room, shape (2,).

    """

    rows: Array
    squares: Array
    outcomes: Array
    weights: Array
    earlier: Mask
    counts: Integers


FeatureForm = Same | Fourier | Nearest


class Hedge(typing.NamedTuple):
    """The state of an AdaNormalHedge.

    Parameters
    ----------
    forgetting
        Factor by which regrets fade in a round.
    regrets
        Cumulative regrets R, shape (n,).
    magnitudes
        Sums S of absolute regrets, shape (n,).
    prior
        How much each expert counts before any loss, shape (n,).
    strengths
        How much each expert counts, up to a common factor, shape (n,).

    """

    forgetting: float
    regrets: Array
    magnitudes: Array
    prior: Array
    strengths: Array


class Probabilities(typing.NamedTuple):
    """Scores become probabilities, which the Brier loss judges; learners have the logistic loss."""


class Numbers(typing.NamedTuple):
    """Scores are numbers, which the squared error judges.

    Parameters
    ----------
    farthest
        An error moves learners as one of this size at most.
    most
        Error of which the loss is 1; it is not more.
    has_unit
        Whether there is something to learn.

    """

    farthest: float
    most: float
    has_unit: bool


TaskForm = Probabilities | Numbers


class Linear(typing.NamedTuple):
    """The state of linear experts, or of the first of them, where the others rest.

    Parameters
    ----------
    maps
        The feature maps; those of which there are models, the *heads*, read the features of all maps up to them.
    heads
        Which maps have models.
    ends
        Where the features of each map end among the inputs, the first of which is a constant 1.
    rules
        The rules of each map; a rule learns about the features of its map, a block of the inputs.
    weights
        Those of all experts, shape (all inputs, all heads · rules, views, columns).
    awake
        1 for experts that are awake, 0 for those asleep, shape (all heads · rules · views,).
    merits
        By how much the models of each head made the mixture better lately, and the loss without them; shape (2, heads).
    trend
        Mean losses of the mixture, of the latest rounds and over a longer time, shape (2,); 0 before any.

    """

    maps: list[FeatureForm]
    heads: list[int]
    ends: list[int]
    rules: list[list[RuleForm]]
    weights: Array
    awake: Array
    merits: Array
    trend: Array


class Resting(typing.NamedTuple):
    """When models of feature maps rest that are of no use.

    Parameters
    ----------
    min_gain
        The share of the loss by which the models of a head have to lower it, or they rest.
    trial
        For so many rounds after a change all play.
    every
        All play in one round in so many, so that those that rest can show what they are worth.
    worse
        All play again once the recent mean loss is so many times the one over a longer time.

    """

    min_gain: float
    trial: int
    every: int
    worse: float


class Ahead(typing.NamedTuple):
    """Rounds that linear experts can play in one go.

    Parameters
    ----------
    n
        How many there are at most.
    nearest
        What remembers the row and the outcome of each of them.
    lineups
        The models of the first head, of the first two, and so on.
    playing
        How many heads play the next round.
    played
        Number of rounds since the latest change.
    resting
        When models rest; None if none ever does.

    """

    n: int
    nearest: list[Nearest]
    lineups: list[Linear]
    playing: int
    played: int
    resting: Resting | None
