"""What is kept of a run, so that it can be drawn afterwards?"""

from __future__ import annotations

import math
import typing
from collections.abc import Iterable, Mapping

from ..plot.record import Presence, Series, Timeline
from ..recovery.evolution import Event
from ..values import Key
from .figures import Picture
from .scores import Scores

#: The metric of a few samples is all over the place, and would squeeze the rest of the figure.
_SETTLED = 20
#: How many points the curves of the figure have.
_NOTES = 500


class Notes:
    """Notes of bounded size on a run of any length: when each feature was there, the metric, and the experts.

    Parameters
    ----------
    scores
        The scores of one or more models, by name; ours is the first.
    start
        Number of the first round.

    Attributes
    ----------
    record
        When each feature was there.
    timeline
        What happened to the features.

    """

    def __init__(self, scores: Mapping[str, Scores], start: int = 0) -> None:
        self._scores = scores
        self._ours = next(iter(scores.values()))
        self.record, self.timeline = Presence(start=start), Timeline(start=start)
        self._series = Series(_NOTES)

    def note(self, there: list[Key], model: typing.Any) -> None:
        """Note a sample, and now and then how the model is doing.

        Parameters
        ----------
        there
            The features that it has.
        model
            The model that learned from it; None if its experts are not of interest.

        """
        self.record.note(there)
        if model is None:
            return
        if not self._series.due:
            self._series.skip()
            return
        values = {}
        if self._ours.n >= _SETTLED:
            for name, scores in self._scores.items():
                values[name] = {label: value() for label, value in scores.curves.items()}
        self._series.add(self.record.rounds - 1, (model.expert_weights, values))

    def happened(self, events: Iterable[Event]) -> None:
        """Note what happened to the features."""
        for event in events:
            self.timeline.add(event)

    def picture(self, model: typing.Any, times: Series) -> Picture:
        """All that a figure shows.

        Parameters
        ----------
        model
            What knows the feature spaces.
        times
            Times of some rounds, for the axis.

        """
        # With the rarer class in view the second curve says more, where there is one.
        labels = list(self._ours.curves)
        label = labels[-1] if self._ours.is_rare else labels[0]
        curves: dict[str, list[tuple[int, float]]] = {name: [] for name in self._scores}
        for round_, (_, values) in self._series:
            for name, value in values.items():
                if math.isfinite(value[label]):
                    curves[name].append((round_, value[label]))
        weights = [(round_, weights) for round_, (weights, _) in self._series]
        return Picture(self.record, model, curves, label, weights if self._ours.n else None, (), times, self.timeline)
