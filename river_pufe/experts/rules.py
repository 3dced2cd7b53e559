"""How does a linear model move after an error?"""

from __future__ import annotations

import abc

import numpy as np

from .. import kernels
from ..part import Part
from ..recovery.scaling import NewUnits
from ..values import Array, Indices, Mask

#: Units of so many values are worth to be followed: where it is known how certain each weight is, and where it is not.
_ROUGH, _FIRM = 3, 30
#: A unit that changes by more than this factor is that of a spike, before or after.
_JUMP = 10.0
#: Units that differ by more than this (a logarithm) change what a prior means; restoring it costs O(d³), so up to so
#: many inputs.
_NOTABLE, _NARROW = 0.1, 256


class UpdateRule(Part, abc.ABC):
    """A step direction that does not depend on the weights: w ← w + g(x) · (target − prediction).

    Models sharing a rule share its gain, $P x / (\\lambda + h x^T P x)$, with P the inverse of what has been seen and h
    the curvature of the loss. It never overshoots the target. A model of several blocks of inputs, each with a rule of
    its own, has P block by block: the gain of a block is $P_k x_k / (\\lambda + h \\sum_j x_j^T P_j x_j)$.

    Attributes
    ----------
    forgetting
        Factor λ by which the past fades in a round.
    trust
        How much models under this rule count before any loss, next to those under others.

    """

    forgetting: float = 1.0
    trust: float = 1.0

    @abc.abstractmethod
    def step(self, views: Array, curvature: float, learn_from: int) -> tuple[Array, Array]:
        """Directions for a sample, and learn from it.

        Parameters
        ----------
        views
            Views of the sample, shape (v, d).
        curvature
            Second derivative of the loss by the score, times the weight of the sample: p(1 − p) for the logistic loss,
            1 for the squared one.
        learn_from
            The view to learn from.

        Returns
        -------
        For each view the direction P x and the form xᵀ P x, shapes (v, d) and (v,).

        """

    def rearrange(self, origins: Indices) -> None:
        """Other inputs: what each was before, shape (inputs,); -1 where nothing is known of it."""

    def rescale(self, units: NewUnits, weights: Array) -> Array:
        """Follow new units of the inputs.

        Parameters
        ----------
        units
            The units; input 0 is the constant, if any has a shift.
        weights
            The weights that this rule has learned, shape (inputs, …).

        Returns
        -------
        Weights with which scores stay as they are, as far as the former units were worth it; of the same shape.

        """
        known = _are_worth(units, _FIRM)
        return restated(np.where(known, units.factor, 1.0), np.where(known, units.shift, 0.0), weights)

    @property
    def name(self) -> str:
        """Short name in the names of experts."""
        return type(self).__name__.lower()


class Newton(UpdateRule):
    """Second-order steps: recursive least squares, and its like for the logistic loss.

    **When to use it.** By default: it needs no step size, and is exact for the squared loss.

    After T rounds with d inputs P is the inverse of

    $$\\lambda^T \\delta \\sqrt{d} I + \\sum_{t \\le T} \\lambda^{T - t} h_t x_t x_t^T,$$

    so the prior fades as the samples do, and so do rounding errors. In a round that leaves the trace of P no smaller
    than it was at first, nothing fades, and the sample adds $h_t x_t x_t^T / \\lambda$. It adds nothing once $x^T P x$
    is a billionth of what it was before any round, so that rounding errors do not add up without end there either.
    Costs O(d²) a step; above `max_size` inputs only the diagonal of the sum is kept, and a step costs O(d).

    Parameters
    ----------
    forgetting
        Factor λ by which the past fades in a round. At 1 all rounds count alike; small values follow drift, and are
        noisy.
    prior
        Precision δ of a weight, in units of one standardized row; it grows with the square root of the number of
        inputs. Towards 0 the first rows are learned by heart; large values learn slowly.
    max_size
        Number of inputs up to which all of P is kept.
    trust
        How much models under this rule count before any loss, next to those under others.

    """

    def __init__(self, forgetting: float = 1.0, prior: float = 0.3, max_size: int = 600, trust: float = 1.0) -> None:
        if not 0 < forgetting <= 1:
            raise ValueError(f"forgetting is a factor in (0, 1], not {forgetting!r}")
        if not prior > 0:
            raise ValueError(f"prior is a precision above 0, not {prior!r}")
        if not max_size >= 0:
            raise ValueError(f"max_size is a number of inputs, 0 or more, not {max_size!r}")
        if not trust > 0:
            raise ValueError(f"trust is a number above 0, not {trust!r}")
        self.forgetting = forgetting
        self.prior = prior
        self.max_size = max_size
        self.trust = trust
        # As in `kernels.SecondOrder`.
        self._inverse: Array = np.zeros((0, 0), order="F")
        self._numbers: Array = np.array([1.0, 1.0, 0.0, 0.0])

    @property
    def name(self) -> str:
        return "newton" if self.forgetting == 1 else f"newton {self.forgetting:g}"

    @property
    def form(self) -> kernels.SecondOrder:
        return self._form()

    def _form(self) -> kernels.SecondOrder:
        return kernels.SecondOrder(self.forgetting, self._inverse, self._numbers)

    def step(self, views: Array, curvature: float, learn_from: int) -> tuple[Array, Array]:
        return kernels.directions(views, curvature, learn_from, self._form())

    def _measure(self) -> None:
        self._numbers[kernels.TRACE] = _diagonal(self._inverse).sum()
        self._numbers[kernels.MOST] = len(self._inverse) ** 0.5 / self.prior

    def rearrange(self, origins: Indices) -> None:
        d, known = len(origins), origins >= 0
        fresh = 1.0 / (self.prior * max(d, 1) ** 0.5 * self._numbers[kernels.SCALE])
        if d > self.max_size:
            self._inverse = (
                np.where(known, _diagonal(self._inverse)[origins], fresh) if known.any() else fresh * np.ones(d)
            )
        else:
            inverse = np.zeros((d, d), order="F")
            inverse.flat[:: d + 1] = fresh
            at, of = np.flatnonzero(known), origins[known]
            if self._inverse.ndim == 2:
                inverse[np.ix_(at, at)] = _symmetric(self._inverse)[np.ix_(of, of)]
            else:
                # A matrix of all former inputs may be too large for the memory.
                inverse[at, at] = self._inverse[of]
            self._inverse = inverse
        self._measure()

    def rescale(self, units: NewUnits, weights: Array) -> Array:
        known = _are_worth(units, _ROUGH)
        factor, shift = np.where(known, units.factor, 1.0), np.where(known, units.shift, 0.0)
        # What was learned in rough units is a guess, of which nothing is certain.
        rough = ~known
        rough[:1] = bool(rough[1:].all()) and len(rough) > 1
        if rough.any():
            self.rearrange(np.where(rough, -1, np.arange(len(rough))))
        if self._inverse.ndim == 1:
            self._inverse /= factor * factor
            self._measure()
            return restated(factor, shift, weights)
        P = self._numbers[kernels.SCALE] * _symmetric(self._inverse)
        d = len(P)
        if d <= _NARROW and bool(np.any(np.abs(np.log(factor)) > _NOTABLE)):
            # What was seen is expressed in the new units, and what was assumed is assumed in the new units instead.
            assumed = self._numbers[kernels.LEFT] * self.prior * d**0.5 * np.eye(d)
            information = np.linalg.inv(P)
            moment = information @ weights.reshape(d, -1)
            seen = _transformed(factor, shift, _transformed(factor, shift, information - assumed).T)
            P = np.linalg.inv(seen + assumed)
            P = 0.5 * (P + P.T)
            weights = (P @ _transformed(factor, shift, moment)).reshape(weights.shape)
        else:
            P = restated(factor, shift, restated(factor, shift, P).T)
            weights = restated(factor, shift, weights)
        self._inverse, self._numbers[kernels.SCALE] = np.asfortranarray(P), 1.0
        self._measure()
        return weights


def _are_worth(units: NewUnits, least: int) -> Mask:
    """Which former units are worth to be followed."""
    worth: Mask = (units.seen >= least) & (np.abs(np.log(units.factor)) <= np.log(_JUMP))
    return worth


def restated(factor: Array, shift: Array, weights: Array) -> Array:
    """Weights on factor · x + shift, x₀ = 1, that give the same scores as given weights on x; shape (inputs, …)."""
    columns: Array = weights.reshape(len(weights), -1) / factor[:, None]
    columns[0] -= shift @ columns
    same: Array = columns.reshape(weights.shape)
    return same


def _transformed(factor: Array, shift: Array, moments: Array) -> Array:
    """Sums over x·(…) as sums over (factor · x + shift)·(…), x₀ = 1; shape (inputs, k)."""
    transformed: Array = factor[:, None] * moments + shift[:, None] * moments[0]
    return transformed


def _symmetric(matrix: Array) -> Array:
    """The whole of a symmetric matrix of which the upper triangle is known."""
    return np.triu(matrix) + np.triu(matrix, 1).T


def _diagonal(matrix: Array) -> Array:
    return matrix if matrix.ndim == 1 else matrix.diagonal()


class ImplicitGradient(UpdateRule):
    """First-order steps of a constant rate.

    **When to use it.** Beside `Newton`: it never settles, so it follows drift, and is robust where rows are few.

    Implicit gradient descent: P is the rate times the identity. Costs O(d) a step.

    Parameters
    ----------
    rate
        Step size η. Towards 0 nothing is learned; towards infinity each sample is fitted exactly.
    trust
        How much models under this rule count before any loss, next to those under others.

    """

    def __init__(self, rate: float = 0.03, trust: float = 1.0) -> None:
        if not rate > 0:
            raise ValueError(f"rate is a step size above 0, not {rate!r}")
        if not trust > 0:
            raise ValueError(f"trust is a number above 0, not {trust!r}")
        self.rate = rate
        self.trust = trust

    @property
    def name(self) -> str:
        return f"gradient {self.rate:g}"

    @property
    def form(self) -> kernels.FirstOrder:
        return kernels.FirstOrder(self.rate)

    def step(self, views: Array, curvature: float, learn_from: int) -> tuple[Array, Array]:
        return kernels.directions(views, curvature, learn_from, kernels.FirstOrder(self.rate))
