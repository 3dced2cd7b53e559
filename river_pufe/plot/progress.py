"""How did weights and metrics go, step by step?"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .record import Series
from .style import COLOURS, HATCHES, OTHERS, axes, label, legend, looks, span, thin_hatches

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes

Step = Mapping[str, typing.Any] | tuple[int, typing.Any]


def weights(steps: Iterable[Step], model: typing.Any = None, ax: Axes | None = None) -> Axes:
    """How much each expert counted, over time.

    The weights of a round add up to 1, so they are stacked. Of many experts, those that counted least are one.

    **When to use it.** To see how fast a model trusts a new feature space, and for how long it keeps the old one.

    Parameters
    ----------
    steps
        What `river.evaluate.iter_progressive_val_score` yields, as it yields it; or pairs of a round and the
        `expert_weights` of a model, such as a `Series`.
    model
        The model that is evaluated. Not needed with pairs.
    ax
        Where to draw. By default on a new figure.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river.datasets import Phishing
    >>> from river_pufe import PUFEClassifier, datasets, plot
    >>> stream = datasets.MappedSpaces(Phishing(), seed=1)
    >>> model = PUFEClassifier()
    >>> steps = evaluate.iter_progressive_val_score(stream, model, metrics.Accuracy(), step=10)
    >>> ax = plot.weights(steps, model)
    >>> ax.get_ylabel(), len(ax.collections)
    ('weight', 7)

    """
    series = Series()
    for step in steps:
        if isinstance(step, tuple):
            series.add(*step)
        elif model is None:
            raise ValueError("model is None: the weights at each step are those of the model that is evaluated")
        else:
            series.add(step["Step"], dict(model.expert_weights))
    ax = axes(ax)
    rounds = [round_ for round_, _ in series]
    names = list(dict.fromkeys(name for _, table in series for name in table))
    stack = np.array([[table.get(name, 0.0) for _, table in series] for name in names]).reshape(len(names), len(rounds))
    if len(names) > len(COLOURS):
        order = np.argsort(-stack.sum(1), kind="stable")
        top, rest = np.sort(order[: len(COLOURS) - 1]), order[len(COLOURS) - 1 :]
        stack = np.concatenate((stack[top], stack[rest].sum(0, keepdims=True)))
        names = [*(names[i] for i in top), f"{len(rest)} others"]
    if names:
        colours = [*COLOURS[: len(names) - 1], OTHERS] if names[-1].endswith("others") else COLOURS[: len(names)]
        with thin_hatches():
            areas = ax.stackplot(rounds, stack, labels=[label(name) for name in names], colors=colours, linewidth=0)
        for area, hatch in zip(areas, HATCHES):
            area.set(hatch=hatch, edgecolor="white")
        legend(ax, reverse=True)
    ax.set(xlabel="round", ylabel="weight", ylim=(0, 1), **span(rounds))
    return ax


def metric(
    steps: Iterable[Step] | Mapping[str, Iterable[Step]],
    ax: Axes | None = None,
    changes: Iterable[int] = (),
    name: str | None = None,
) -> Axes:
    """How well one or more models did, over time.

    **When to use it.** To compare models on a stream that evolves. A metric of all rounds hides what happens after a
    change, so give `river.utils.Rolling` one.

    Parameters
    ----------
    steps
        What `river.evaluate.iter_progressive_val_score` yields, as it yields it; or pairs of a round and a number, such
        as a `Series`; or a dict with some of these for each model, by the name of the model.
    ax
        Where to draw. By default on a new figure.
    changes
        Rounds to mark, for example the `changes` of an evolving stream.
    name
        Which metric to draw, where the steps have several. By default the first one.

    Examples
    --------
    >>> from river import evaluate, linear_model, metrics, preprocessing, utils
    >>> from river.datasets import Phishing
    >>> from river_pufe import PUFEClassifier, datasets, plot
    >>> stream = datasets.MappedSpaces(Phishing(), seed=1)
    >>> models = {
    ...     "PUFE": PUFEClassifier(),
    ...     "linear model": preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    ... }
    >>> ax = plot.metric(
    ...     {
    ...         name: evaluate.iter_progressive_val_score(
    ...             stream, model, utils.Rolling(metrics.Accuracy, window_size=100), step=10
    ...         )
    ...         for name, model in models.items()
    ...     },
    ...     changes=stream.changes,
    ... )
    >>> ax.get_ylabel(), [line.get_label() for line in ax.lines][:2]
    ('Accuracy, latest 100', ['PUFE', 'linear model'])

    """
    ax = axes(ax)
    models = steps if isinstance(steps, Mapping) else {"": steps}
    rounds: list[int] = []
    title = name
    for i, ((model, its_steps), (colour, style)) in enumerate(zip(models.items(), looks(list(models)))):
        series = Series()
        seen: dict[int, int] = {}
        for step in its_steps:
            if isinstance(step, tuple):
                series.add(*step)
                continue
            found = _metric_of(step, name)
            title = title or _titled(found)
            if isinstance(its_steps, Sequence) and seen.setdefault(id(found), step["Step"]) != step["Step"]:
                raise ValueError(
                    "steps is a list, all of whose steps hold the metric as it is in the end: "
                    "give the iterator itself, or pairs of a round and metric.get()"
                )
            series.add(step["Step"], float(found.get()))
        rounds += [round_ for round_, _ in series]
        ax.plot(
            [round_ for round_, _ in series],
            [value for _, value in series],
            style,
            color=colour,
            linewidth=1.8 if i == 0 else 1.4,
            label=label(model) if model else None,
        )
    for i, change in enumerate(changes):
        ax.axvline(change, color="0.4", linewidth=0.8, linestyle=(0, (1, 2)), label=None if i else "change")
    legend(ax)
    ax.set(xlabel="round", ylabel=title or "metric", **span(rounds))
    return ax


def _titled(metric: typing.Any) -> str:
    """Name of a metric, and how far it looks back if it does not count all rounds."""
    name = str(metric).partition(":")[0]
    window = getattr(metric, "window_size", None)
    return f"{name}, latest {window}" if window is not None else name


def _metric_of(step: Mapping[str, typing.Any], name: str | None) -> typing.Any:
    found = {key: value for key, value in step.items() if callable(getattr(value, "get", None)) and key != "Prediction"}
    if name is None and found:
        return next(iter(found.values()))
    if name not in found:
        raise ValueError(f"there is no metric {name!r} in the steps, which have {', '.join(found) or 'none'}")
    return found[name]
