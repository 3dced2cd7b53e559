"""One model for each of many keys: in one process, or in an engine that keeps state by key.

- `step`: a batch of events of one key, as a function from a state and events to a state and predictions. It is all
  that an engine needs.
- `Fleet`: a River estimator with a model for each key, in one process and, with `SQLiteStore`, in bounded memory.
- `river_pufe.fleet.spark`: the same on Apache Spark; it needs the extra `spark`.

"""

from __future__ import annotations

from .fleet import Fleet
from .member import Answer, Event
from .stepping import step
from .stores import MemoryStore, SQLiteStore, Store

__all__ = ["Answer", "Event", "Fleet", "MemoryStore", "SQLiteStore", "Store", "step"]
