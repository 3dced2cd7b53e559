"""What happened to a stream and to a model, in pictures?

Each function draws one picture on an Axes, a new one unless one is given, and returns it. They take what there is
already: a stream, a model, and the steps of `river.evaluate.iter_progressive_val_score`. Memory and drawing are bounded
however long the stream is and however many keys it has. Colours are those of Okabe and Ito, which the colour-blind can
tell apart; hatches, styles of lines and labels say the same without any colour. Needs matplotlib, the extra `plot`.
"""

from __future__ import annotations

from .marks import events
from .progress import metric, weights
from .raster import presence
from .record import Presence, Series, Timeline
from .style import COLOURS as COLOURS
from .truth import recovered

__all__ = ["Presence", "Series", "Timeline", "events", "metric", "presence", "recovered", "weights"]
