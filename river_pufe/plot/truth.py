"""Is what is recovered what would have been read?"""

from __future__ import annotations

import typing
from collections.abc import Iterable

import numpy as np

from ..values import Key, Sample, is_there
from .record import Series
from .style import COLOURS, axes, label, legend

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes


def recovered(
    samples: Iterable[tuple[Sample, Sample]], model: typing.Any, key: Key | None = None, ax: Axes | None = None
) -> Axes:
    """What a vanished feature would have read according to a model, against what it did read.

    **When to use it.** On a stream of which the truth is known, those of `river_pufe.datasets` or one whose old sensors
    were kept for a while, to see whether the map of the model is any good.

    Parameters
    ----------
    samples
        Pairs of a sample as the model gets it, and one that has the vanished feature as well.
    model
        What has learned from the stream already: an estimator, or a `FeatureRecovery`. It learns nothing here.
    key
        The vanished feature. By default the first one.
    ax
        Where to draw. By default on a new figure.

    Examples
    --------
    >>> from river_pufe import FeatureRecovery, datasets, plot
    >>> stream = datasets.HiddenFactors(noise=0.1, n_samples=600, seed=1)
    >>> model = FeatureRecovery()
    >>> for x, _ in stream:
    ...     model.learn_one(x)
    >>> pairs = [(x, truth) for (x, _), truth in zip(stream, stream.truth())]
    >>> ax = plot.recovered(pairs[-200:], model)
    >>> ax.get_title()
    's0_0: R² = 0.98'

    """
    if key is None:
        if not model.vanished:
            raise ValueError("no key has vanished from the model yet: there is nothing to recover")
        key = model.vanished[0]
    series = Series()
    for t, (x, truth) in enumerate(samples):
        guess = model.recover_one(x).get(key)
        if guess is not None and is_there(truth.get(key)):
            series.add(t, (float(typing.cast(float, truth[key])), guess))
    if not series:
        raise ValueError(f"there is no sample with both a recovered and a true value of {key!r}")
    ax = axes(ax)
    true, guessed = np.array([pair for _, pair in series]).T
    ax.scatter(true, guessed, s=12, color=COLOURS[0], alpha=0.5, linewidths=0)
    ends = [min(true.min(), guessed.min()), max(true.max(), guessed.max())]
    ax.plot(ends, ends, color="black", linewidth=1, linestyle="--", label="perfect")
    spread = np.square(true - true.mean()).sum()
    score = f": R² = {1 - np.square(true - guessed).sum() / spread:.2f}" if spread else ""
    ax.set(xlabel="true value", ylabel="recovered value", title=label(key) + score)
    legend(ax)
    return ax
