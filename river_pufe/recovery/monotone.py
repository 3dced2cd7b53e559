"""What do absent entries read where rows lose them one after another?"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from ..values import Array, Indices, Mask


def order_of_loss(missing: Mask) -> Indices | None:
    """The entries that are ever absent, in the order in which rows lose them; None if there is no such order.

    Parameters
    ----------
    missing
        What is absent from each row, shape (n, d). There is an order if what is absent from a row is absent from all
        rows that lack as much or more: monotone missing data.

    """
    often = missing.sum(0)
    order = np.argsort(-often, kind="stable")[: np.count_nonzero(often)]
    monotone = np.arange(len(order)) < missing.sum(1)[:, None]
    return order if np.array_equal(missing[:, order], monotone) else None


def expect(rows: Array, order: Indices, mean: Array, precision: Array) -> tuple[Array, Array] | None:
    """Rows as they are expected under a normal law, as `kernels.expect` with weights 1.

    With K the precision of the entries in the order of their loss and $K = L L^T$, the inverse of each leading block of
    K is $M^T M$ with M the leading block of $L^{-1}$. So one factorization is enough for all rows.

    Costs O(a³ + n a d) for n rows of d entries, a of which are ever absent.

    Parameters
    ----------
    rows
        Shape (n, d), NaN where absent.
    order
        As of `order_of_loss`, shape (a,).
    mean, precision
        Mean and inverse covariance of the law, shapes (d,) and (d, d).

    Returns
    -------
    The rows with absent entries at their means given the others, shape (n, d), and the sum of the covariances of what
    is absent given the others, shape (d, d). None if the precision is not positive definite.

    """
    if not len(order):
        return rows, np.zeros(precision.shape)
    factor, failed = lapack.dpotrf(precision[np.ix_(order, order)], lower=1, clean=1)
    if failed:
        return None
    root, _ = lapack.dtrtri(factor, lower=1)
    missing = np.isnan(rows)
    absent = missing[:, order]
    apart = np.where(missing, 0.0, rows - mean)
    halfway = (absent * (apart @ precision[:, order])) @ root.T
    expected = np.where(missing, mean, rows)
    expected[:, order] -= (absent * halfway) @ root
    spread = np.zeros(precision.shape)
    spread[np.ix_(order, order)] = (root * absent.sum(0)[:, None]).T @ root
    return expected, spread
