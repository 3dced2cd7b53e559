"""Streams whose keys come and go.

Real streams whose features change are rare, and what their dead sensors would have read is not known. The
classes here make such streams, with the truth, out of any data set of River:

    from river.datasets import Phishing
    from river_pufe import datasets

    dataset = datasets.MappedSpaces(Phishing(), datasets.Cycle(overlap=20), seed=42)

What comes and goes is a *feature space*, a set of keys with one life. When it goes, the keys of the next one
are there for a while already, the *overlap*, which is all there is to learn how the old features follow from
the new ones. The settings of the literature differ in what is left of the old space in the overlap:

- everything, until all of it goes at once: FESL, `Cycle(unpredictable=False)`;
- less and less, one key after another: PUFE, `Cycle()`;
- there is no overlap in time, but a part of the features lives on: OPID, `Cycle(overlap=0, survivors=0.5)`;
- nothing at all: `Cycle(overlap=0)`.

New keys may also come one after another, `Cycle(emergence=10)`, and old spaces may come back,
`Cycle(n_spaces=2, n_changes=5)`. `MappedSpaces` makes the new spaces from random mixtures of the features of
a data set, `SplitSpaces` takes them apart, and `HiddenFactors` makes up everything, so that the truth is
known. `FESL` reads the data of the papers.

Other streams know of keys only. They are only ever added in a `TrapezoidalStream`; each may be missing at any
time in a `CapriciousStream`, or, as in a review of methods for them, in a `HaphazardStream`; a few are away for
a while or for good in a `SensorOutage`. These wrap evolving streams as well.

All of them can be iterated again and again, with equal results. They look at one sample at a time, and never
ahead, except those that shuffle rows. They have `changes`, the rounds at which something is gone, as far as that is
settled beforehand, and a method `truth` with what each round would have shown if nothing had ever gone.

"""

from __future__ import annotations

from .capricious_stream import CapriciousStream
from .cycle import Cycle
from .fesl import FESL
from .haphazard_stream import HaphazardStream
from .hidden_factors import HiddenFactors
from .mapped_spaces import MappedSpaces
from .sensor_outage import SensorOutage
from .split_spaces import SplitSpaces
from .trapezoidal_stream import TrapezoidalStream

__all__ = [
    "FESL",
    "CapriciousStream",
    "Cycle",
    "HaphazardStream",
    "HiddenFactors",
    "MappedSpaces",
    "SensorOutage",
    "SplitSpaces",
    "TrapezoidalStream",
]
