"""What happened to a stream and to a model, in pictures?

Each function draws one picture on an Axes, a new one unless one is given, and returns it. They take what there is
already: a stream, a model, and the steps of `river.evaluate.iter_progressive_val_score`. Memory and drawing are bounded
however long the stream is and however many keys it has. Colours are those of Okabe and Ito, which the colour-blind can
tell apart; hatches, styles of lines and labels say the same without any colour. Needs matplotlib, the extra `plot`.
"""

from __future__ import annotations

import itertools
import math
import types
import typing
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from .record import Presence, Series, is_there
from .sketch import Array
from .spaces import FeatureSpace, FeatureSpaces, Key, Sample

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Presence", "Series", "events", "metric", "presence", "recovered", "weights"]

#: Okabe and Ito, the dark ones first, without the yellow that is lost on white paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_STYLES = ("-", "--", "-.", ":")
_HATCHES = ("", "///", "...", "\\\\\\", "xxx", "ooo", "---")
_OTHERS = "#BBBBBB"
_SMALL = "small"

Step = Mapping[str, typing.Any] | tuple[int, typing.Any]


def presence(
    stream: Presence | Iterable[Sample | tuple[typing.Any, ...]], model: typing.Any = None, ax: Axes | None = None
) -> Axes:
    """When which key was there, and the feature spaces that were made of them.

    One row for each key, darker where it was there more often. The colour is that of its feature space, and so is the
    label on the right. Hatched bands are overlaps, and a cross is the end of a key that has vanished.

    **When to use it.** Before anything else: it needs no label and no model. With a model it shows what that model made
    of the keys.

    Parameters
    ----------
    stream
        Samples, or tuples that begin with one, such as any data set of River; or a `Presence`, filled already.
    model
        What knows the feature spaces of this stream: an estimator, a `FeatureRecovery`, or `FeatureSpaces`. Without one
        the keys are followed by `FeatureSpaces()` while the stream is read; a filled `Presence` is drawn without
        spaces then.
    ax
        Where to draw. By default on a new figure.

    Examples
    --------
    >>> from river.datasets import Phishing
    >>> from river_pufe import datasets, plot
    >>> stream = datasets.MappedSpaces(Phishing(), datasets.Cycle(n_spaces=3), seed=1)
    >>> ax = plot.presence(stream)
    >>> [text.get_text() for text in ax.texts]
    ['space 0', 'space 1', 'space 2']
    >>> ax.get_xlabel(), len(ax.get_yticks())
    ('round', 21)

    """
    if isinstance(stream, Presence):
        record = stream
    else:
        record, followed = Presence(), FeatureSpaces() if model is None else None
        for item in stream:
            x = item[0] if isinstance(item, tuple) else item
            record.update(x)
            if followed is not None:
                followed.observe({key: 1.0 for key, value in x.items() if is_there(value)})
        model = model if model is not None else followed
    ax = _axes(ax)
    spaces = _spaces_of(record.keys, model)
    # Row by row from the first space to the last; keys of none are at the end.
    order = sorted(range(len(spaces)), key=lambda row: spaces[row] or (math.inf,))
    keys, spaces, shares = [record.keys[row] for row in order], [spaces[row] for row in order], record.shares()[order]
    groups = [(numbers, len(list(group))) for numbers, group in itertools.groupby(spaces)]
    firsts = dict.fromkeys(numbers[0] for numbers in spaces if numbers)
    colours = {number: COLOURS[i % len(COLOURS)] for i, number in enumerate(firsts)}
    image = np.ones((len(keys) + (record.n_others > 0), shares.shape[1], 4))
    for row, (numbers, share) in enumerate(zip(spaces, shares)):
        image[row] = _shade(colours[numbers[0]] if numbers else _OTHERS, share)
    labels = [_label(key) for key in keys]
    if record.n_others:
        others = record.others()
        image[-1] = _shade(_OTHERS, others / max(others.max(), 1e-9))
        labels.append(f"{record.n_others} other keys")
    extent = (float(record.start), float(record.start + record.width * image.shape[1]), float(len(labels)), 0.0)
    if image.size:
        ax.imshow(image, aspect="auto", interpolation="nearest", extent=extent)
    end = 0
    for numbers, n in groups:
        if end:
            ax.axhline(end, color="black", linewidth=0.5)
        if numbers and len(groups) <= 16:
            name = ("space " if len(numbers) == 1 else "spaces ") + ", ".join(map(str, numbers))
            place: dict[str, typing.Any] = {"transform": ax.get_yaxis_transform(), "va": "center", "clip_on": False}
            ax.text(1.01, end + n / 2, name, fontsize=_SMALL, **place)
        end += n
    if model is not None:
        gone = set(model.vanished)
        rows = [row for row, key in enumerate(keys) if key in gone]
        if rows:
            ends, heights = [record.seen(keys[row])[1] + 1 for row in rows], [row + 0.5 for row in rows]
            ax.scatter(ends, heights, marker="x", s=18, color="black", linewidths=1, label="vanished", zorder=3)
        _shade_overlaps(ax, model, record.rounds)
        _legend(ax, above=True)
    step = max(1, -(-len(labels) // _room_for_labels(ax)))
    ticks = list(range(0, len(labels), step))
    if record.n_others:
        ticks[-1] = len(labels) - 1
    ax.set_yticks([tick + 0.5 for tick in ticks], [labels[tick] for tick in ticks], fontsize=_SMALL)
    ax.set(xlabel="round", xlim=(record.start, max(record.rounds, record.start + 1)), ylim=(max(len(labels), 1), 0))
    return ax


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
    ax = _axes(ax)
    rounds = [round_ for round_, _ in series]
    names = list(dict.fromkeys(name for _, table in series for name in table))
    stack = np.array([[table.get(name, 0.0) for _, table in series] for name in names]).reshape(len(names), len(rounds))
    if len(names) > len(COLOURS):
        order = np.argsort(-stack.sum(1), kind="stable")
        top, rest = np.sort(order[: len(COLOURS) - 1]), order[len(COLOURS) - 1 :]
        stack = np.concatenate((stack[top], stack[rest].sum(0, keepdims=True)))
        names = [*(names[i] for i in top), f"{len(rest)} others"]
    if names:
        colours = [*COLOURS[: len(names) - 1], _OTHERS] if names[-1].endswith("others") else COLOURS[: len(names)]
        with _thin_hatches():
            areas = ax.stackplot(rounds, stack, labels=[_label(name) for name in names], colors=colours, linewidth=0)
        for area, hatch in zip(areas, _HATCHES):
            area.set(hatch=hatch, edgecolor="white")
        _legend(ax, reverse=True)
    ax.set(xlabel="round", ylabel="weight", ylim=(0, 1), **_span(rounds))
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
    ('Accuracy', ['PUFE', 'linear model'])

    """
    ax = _axes(ax)
    models = steps if isinstance(steps, Mapping) else {"": steps}
    rounds: list[int] = []
    title = name
    for i, (model, its_steps) in enumerate(models.items()):
        series = Series()
        seen: dict[int, int] = {}
        for step in its_steps:
            if isinstance(step, tuple):
                series.add(*step)
                continue
            found = _metric_of(step, name)
            title = title or str(found).partition(":")[0]
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
            _STYLES[i % len(_STYLES)],
            color=COLOURS[i % len(COLOURS)],
            linewidth=1.8 if i == 0 else 1.4,
            label=_label(model) if model else None,
        )
    for i, change in enumerate(changes):
        ax.axvline(change, color="0.4", linewidth=0.8, linestyle=(0, (1, 2)), label=None if i else "change")
    _legend(ax)
    ax.set(xlabel="round", ylabel=title or "metric", **_span(rounds))
    return ax


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
    's0_0: R² = 0.88'

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
    ax = _axes(ax)
    true, guessed = np.array([pair for _, pair in series]).T
    ax.scatter(true, guessed, s=12, color=COLOURS[0], alpha=0.5, linewidths=0)
    ends = [min(true.min(), guessed.min()), max(true.max(), guessed.max())]
    ax.plot(ends, ends, color="black", linewidth=1, linestyle="--", label="perfect")
    spread = np.square(true - true.mean()).sum()
    score = f": R² = {1 - np.square(true - guessed).sum() / spread:.2f}" if spread else ""
    ax.set(xlabel="true value", ylabel="recovered value", title=_label(key) + score)
    _legend(ax)
    return ax


def events(model: typing.Any, ax: Axes | None = None) -> Axes:
    """Mark what happened to the keys on a picture whose horizontal axis are the rounds.

    Solid lines are where keys come, alone or with a new feature space, hatched bands are overlaps, and crosses on top
    are where keys vanish.

    **When to use it.** On a picture of `metric` or `weights`, or any of your own, where nobody knows the changes
    beforehand.

    Parameters
    ----------
    model
        An estimator, a `FeatureRecovery`, or `FeatureSpaces`.
    ax
        The picture. By default the current one of pyplot.

    Examples
    --------
    >>> from river_pufe import FeatureRecovery, datasets, plot
    >>> model = FeatureRecovery()
    >>> steps = []
    >>> for t, (x, _) in enumerate(datasets.HiddenFactors(n_samples=300, seed=1)):
    ...     model.learn_one(x)
    ...     steps.append((t, len(x)))
    >>> ax = plot.events(model, plot.metric(steps))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['overlap', 'keys come', 'keys vanish']

    """
    if ax is None:
        ax = _pyplot().gca()
    limits = ax.get_xlim()
    _shade_overlaps(ax, model, limits[1])
    across = ax.get_xaxis_transform()
    rounds = [_rounds_of(model, kinds) for kinds in (("opened", "returned"), ("vanished",))]
    if rounds[0]:
        ax.vlines(rounds[0], 0, 1, transform=across, color="black", linewidth=0.7, label="keys come")
    if rounds[1]:
        crosses: dict[str, typing.Any] = {"marker": "x", "s": 16, "linewidths": 0.9, "clip_on": False}
        ax.scatter(rounds[1], [1.03] * len(rounds[1]), transform=across, color="black", label="keys vanish", **crosses)
    ax.set_xlim(limits)
    _legend(ax)
    return ax


def _rounds_of(model: typing.Any, kinds: Collection[str]) -> list[int]:
    return sorted({event.round for event in model.events if event.kind in kinds and event.round > 0})


def _overlaps(model: typing.Any) -> list[tuple[int, int | None]]:
    """Rounds between which keys of two spaces were alive, None for the end of one that goes on."""
    found: list[tuple[int, int | None]] = []
    for event in model.events:
        if event.kind == "overlap began":
            found.append((event.round, None))
        elif event.kind == "overlap ended" and found:  # The beginning may be too long ago.
            found[-1] = (found[-1][0], event.round)
    return found


def _shade_overlaps(ax: Axes, model: typing.Any, end: float) -> None:
    band: dict[str, typing.Any] = {"facecolor": "none", "edgecolor": "0.35", "hatch": "///", "linewidth": 0.6}
    with _thin_hatches():
        for i, (start, stop) in enumerate(_overlaps(model)):
            label = None if i else "overlap"
            ax.axvspan(start, end if stop is None else stop, alpha=0.5, zorder=2.5, label=label, **band)


def _spaces_of(keys: Sequence[Key], model: typing.Any) -> list[tuple[int, ...]]:
    """Numbers of the spaces of each key."""
    numbers: dict[Key, tuple[int, ...]] = {}
    spaces: tuple[FeatureSpace, ...] = model.spaces if model is not None else ()
    for space in spaces:
        for key in space.keys:
            numbers[key] = (*numbers.get(key, ()), space.number)
    return [numbers.get(key, ()) for key in keys]


def _shade(colour: str, share: Array) -> Array:
    from matplotlib.colors import to_rgb

    # What is there at all must be seen, so it does not begin at white.
    ink = np.where(share > 0, 0.2 + 0.8 * share, 0.0)[:, None]
    rgb = 1.0 - ink * (1.0 - np.array(to_rgb(colour)))
    return np.concatenate((rgb, np.ones_like(ink)), axis=1)


def _room_for_labels(ax: Axes) -> int:
    """How many lines of small text fit beside the Axes."""
    from matplotlib.font_manager import FontProperties

    height = ax.get_window_extent().height * 72 / ax.figure.get_dpi()
    return max(1, int(height / (1.1 * FontProperties(size=_SMALL).get_size_in_points())))


def _metric_of(step: Mapping[str, typing.Any], name: str | None) -> typing.Any:
    found = {key: value for key, value in step.items() if callable(getattr(value, "get", None)) and key != "Prediction"}
    if name is None and found:
        return next(iter(found.values()))
    if name not in found:
        raise ValueError(f"there is no metric {name!r} in the steps, which have {', '.join(found) or 'none'}")
    return found[name]


def _span(rounds: Sequence[int]) -> dict[str, tuple[int, int]]:
    return {"xlim": (min(rounds), max(rounds))} if len(set(rounds)) > 1 else {}


def _label(key: Key) -> str:
    text = str(key)
    text = text if len(text) <= 28 else text[:27] + "…"
    # A dollar is a dollar, not mathematics, and an underscore in front does not hide it from the legend.
    return text.replace("$", r"\$") if not text.startswith("_") else " " + text.replace("$", r"\$")


def _thin_hatches() -> typing.ContextManager[None]:
    from matplotlib import rc_context

    return rc_context({"hatch.linewidth": 0.5})


def _legend(ax: Axes, reverse: bool = False, above: bool = False) -> None:
    """A legend beside or above the Axes, so that it hides nothing."""
    handles, _ = ax.get_legend_handles_labels()
    if handles:
        place: dict[str, typing.Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "reverse": reverse}
        if above:
            place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "ncols": len(handles), "borderaxespad": 0.2}
        ax.legend(frameon=False, fontsize=_SMALL, **place)


def _axes(ax: Axes | None) -> Axes:
    return ax if ax is not None else _pyplot().figure(layout="constrained").add_subplot()


def _pyplot() -> types.ModuleType:
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        message = 'pictures need matplotlib, which is not installed: pip install "river-pufe[plot]"'
        raise ModuleNotFoundError(message, name="matplotlib") from None
    return pyplot
