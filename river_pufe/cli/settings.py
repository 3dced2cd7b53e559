"""What does the user want to know of a model?"""

from __future__ import annotations

import typing
from collections.abc import Sequence

from .show import UsageError


class Settings(typing.NamedTuple):
    """How a model is judged, and what is told about it.

    Parameters
    ----------
    metric
        Names of metrics of River.
    positive
        The class that matters.
    window
        How many samples the metric of the figure looks back at.
    threshold
        Probability from which a sample is taken for the class that matters; None: where it is the most probable one.
    alarms
        How many alarms a day are wanted, instead of a threshold.
    rival
        Whether River's linear model learns beside ours.
    recovered
        Whether to tell what each feature should read.

    """

    metric: Sequence[str] = ()
    positive: typing.Any = None
    window: int = 200
    threshold: float | None = None
    alarms: float | None = None
    rival: bool = False
    recovered: bool = False

    def check_regression(self) -> None:
        """Refuse what only makes sense for classes."""
        for name in ("positive", "threshold", "alarms"):
            if getattr(self, name) is not None:
                raise UsageError(f"--{name} is about classes, but the target is a number")
