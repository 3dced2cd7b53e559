"""How does Apache Spark keep a model for each key of a stream?

Needs the extra `spark` (PySpark 4.1 or later) and Java 17 or later.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Sequence

from river import base

from ..values import Key
from .member import Event, Factory
from .stepping import step

if typing.TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.streaming import StatefulProcessorHandle

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def predict(
    events: DataFrame,
    factory: Factory,
    features: str | Sequence[str],
    key: str = "key",
    number: str = "number",
    target: str = "target",
    on_error: str = "stop",
) -> DataFrame:
    """Predictions for a stream of events, each made before the event is learned.

    **When to use it.** When the keys do not fit one machine, or the events are in Spark already. Each key's model is in
    the state of the query, so Spark moves, checkpoints and restores it with everything else. An event is learned once,
    also if the query is killed and started again from its checkpoint.

    In each batch and for each of its keys the model is loaded and dumped once, see `step`; so larger batches cost less.
    The state of the query must be in RocksDB.

    Parameters
    ----------
    events
        A streaming data frame.
    factory
        What makes the model of a new key: a class, or a function without arguments that Spark can send to its workers.
    features
        Name of a column of maps from names to numbers, or names of columns of numbers. Nulls are absent features.
    key
        Name of the column of the key.
    number
        Name of the column of the number of an event, which rises from one event of a key to the next: Spark shuffles
        the rows of a batch, so nothing else tells their order.
    target
        Name of the column of the target; the features alone are learned where it is null.
    on_error
        Whether an event that the model rejects stops the query (``"stop"``) or is predicted as null (``"skip"``).

    Returns
    -------
    A streaming data frame with the key, the number, the `prediction` and, for classes, their `probabilities` as a map.
    Before anything was learned from a target the prediction of a class is null.

    Raises
    ------
    ValueError
        If the state of the session is not in RocksDB.

    """
    from pyspark.sql import Row
    from pyspark.sql.streaming import StatefulProcessor
    from pyspark.sql.types import BooleanType, DoubleType, MapType, StructType

    StatefulProcessor.register(_Processor)
    session = events.sparkSession
    if session.conf.get(_PROVIDER, "") != _ROCKSDB:
        raise ValueError(f"the state must be in RocksDB: set {_PROVIDER} to {_ROCKSDB}")
    classifies = isinstance(factory(), base.Classifier)
    kind = events.schema[target].dataType if classifies else DoubleType()
    schema = StructType([events.schema[key], events.schema[number]]).add("prediction", kind)
    if classifies:
        schema = schema.add("probabilities", MapType(kind, DoubleType()))
    columns = [features] if isinstance(features, str) else list(features)
    # Before any label the classes are False and True, which only a column of truth values can hold.
    needs_labels = classifies and not isinstance(kind, BooleanType)

    def as_event(row: Row) -> Event:
        # A map comes as a list of pairs.
        x = dict(row[features] or ()) if isinstance(features, str) else {name: row[name] for name in columns}
        return Event(row[number], x, row[target])

    def as_row(name: Key, answered: Key, prediction: typing.Any) -> Row:
        if prediction is None or (needs_labels and all(type(label) is bool for label in prediction)):
            return Row(**dict.fromkeys(schema.names, None) | {key: name, number: answered})
        if not classifies:
            return Row(**{key: name, number: answered, "prediction": prediction})
        likely = max(prediction, key=prediction.get)
        return Row(**{key: name, number: answered, "prediction": likely, "probabilities": prediction})

    chosen = events.select(key, number, target, *columns)
    processor = _Processor(factory, as_event, as_row, on_error)
    return chosen.groupBy(key).transformWithState(processor, schema, "Append", "None")


class _Processor:
    """What Spark calls with the events of one key."""

    def __init__(
        self, factory: Factory, as_event: Callable[[Row], Event], as_row: Callable[..., Row], on_error: str
    ) -> None:
        self.factory = factory
        self.as_event = as_event
        self.as_row = as_row
        self.on_error = on_error

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = handle.getValueState("model", "state BINARY")

    def handleInputRows(  # noqa: N802 (the name is Spark's)
        self, key: typing.Any, rows: Iterator[Row], timerValues: typing.Any
    ) -> Iterator[Row]:
        stored = self.state.get()
        events = [self.as_event(row) for row in rows]
        state, answers = step(bytes(stored[0]) if stored else None, events, self.factory, self.on_error)
        self.state.update((state,))
        for answer in answers:
            yield self.as_row(key[0], answer.number, answer.prediction)

    def handleExpiredTimer(self, *_: object) -> Iterator[Row]:  # noqa: N802
        return iter(())

    def close(self) -> None:
        pass
