"""Does Spark learn each event once, in order, and go on after a crash as if it had never stopped?"""

from __future__ import annotations

import functools
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest
from test_fleet import alone, events

if shutil.which("java") is None:
    pytest.skip("Spark needs Java, of which there is none", allow_module_level=True)
pyspark = pytest.importorskip("pyspark", reason="the extra spark is not installed")

from pyspark.sql import SparkSession  # noqa: E402 (not without Java)

from river_pufe import PUFEClassifier, PUFERegressor  # noqa: E402
from river_pufe.fleet import spark  # noqa: E402

#: One session for all, where tests run side by side.
pytestmark = pytest.mark.xdist_group("spark")
PARENT = pathlib.Path(__file__).parent
N_KEYS, N_EVENTS, N_FILES = 50, 20_000, 8
SCHEMA = "site LONG, number LONG, y BOOLEAN, x MAP<STRING, DOUBLE>"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@functools.cache
def session(*java_options):
    """The one session of this process; by default it compiles little, on which short runs spend most of their time."""
    java_options = java_options or ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.minBatchesToRetain": "2",
        "spark.driver.host": "localhost",
        "spark.driver.extraJavaOptions": " ".join(java_options),
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def write(folder, stream, n_files):
    """Events in files, each of them shuffled; files are read by their times."""
    folder.mkdir()
    size = -(-len(stream) // n_files)
    for i in range(n_files):
        part = stream[i * size : (i + 1) * size]
        lines = [json.dumps({"site": key, "number": t, "x": x, "y": y}) for key, t, x, y in part]
        path = folder / f"{i:03}.json"
        path.write_text("\n".join(random.Random(i).sample(lines, len(lines))))
        os.utime(path, (1e9 + i, 1e9 + i))


def run(folder, schema=SCHEMA, factory=PUFEClassifier, **kwargs):
    """Predict all that is in a folder, file by file, and stop; how that went."""
    rows = session().readStream.schema(schema).option("maxFilesPerTrigger", 1).json(f"{folder}/in")
    told = spark.predict(rows, factory, "x", key="site", target="y", **kwargs)
    writer = told.writeStream.format("json").option("path", f"{folder}/out")
    writer = writer.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True)
    query = writer.start()
    query.awaitTermination()
    return query.recentProgress


def written(folder):
    """What was predicted: of the files, only those count that are in the log of the sink."""
    log = folder / "out" / "_spark_metadata"
    lines = [line for path in log.glob("[0-9]*") for line in path.read_text().splitlines()[1:]]
    names = {pathlib.PurePosixPath(json.loads(line)["path"]).name for line in lines}
    return [json.loads(line) for name in sorted(names) for line in (folder / "out" / name).read_text().splitlines()]


def test_a_query_that_is_killed_goes_on_as_if_never_stopped(tmp_path):
    """Twenty thousand events of fifty keys: the predictions are those of the plain loop, each of them once.

    The process that is killed is another one; the query is started again in this one.
    """
    stream = events(N_KEYS, N_EVENTS // N_KEYS)
    write(tmp_path / "in", stream, N_FILES)
    code = f"import sys; sys.path.insert(0, {str(PARENT)!r}); import test_spark; test_spark.run({str(tmp_path)!r})"
    command = [sys.executable, "-W", "ignore", "-c", code]

    with (tmp_path / "log").open("w") as log:
        query = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            # Most likely in the middle of a batch.
            while not (tmp_path / "checkpoint" / "commits" / "2").exists():
                assert query.poll() is None, (tmp_path / "log").read_text()[-5000:]
                time.sleep(0.13)
        finally:
            os.killpg(query.pid, signal.SIGKILL)
            query.wait()
    done = len(list((tmp_path / "checkpoint" / "commits").glob("[0-9]*")))
    assert done < N_FILES
    run(tmp_path)

    _, answers = alone(stream)
    told = written(tmp_path)
    assert len(told) == N_EVENTS
    named = {True: "true", False: "false"}
    assert {(row["site"], row["number"]): row["probabilities"] for row in told} == {
        event: {named[label]: p for label, p in answer.items()} for event, answer in answers.items()
    }
    assert all(row["prediction"] == (row["probabilities"]["true"] > 0.5) for row in told)


def test_numbers_labels_columns_and_bad_events(tmp_path):
    lines = [
        {"site": "a", "number": 1.5, "y": "up", "x": 1.0, "z": None},
        {"site": "a", "number": 2.5, "y": "down", "x": -1.0, "z": 2.0},
        {"site": "a", "number": 3.5, "y": None, "x": 1.0, "z": 0.0},
        {"site": "a", "number": 4.5, "y": "up", "x": float("inf"), "z": 0.0},
    ]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "lines.json").write_text("\n".join(map(json.dumps, lines)))
    schema = "site STRING, number DOUBLE, y STRING, x DOUBLE, z DOUBLE"
    rows = session().readStream.schema(schema).json(f"{tmp_path}/in")
    asked = spark.predict(rows, PUFEClassifier, ["x", "z"], key="site", target="y", on_error="skip")
    query = asked.writeStream.format("memory").queryName("answers").trigger(availableNow=True).start()
    query.awaitTermination()
    told = session().sql("SELECT * FROM answers ORDER BY number").collect()
    assert [row.prediction for row in told[:2] + told[3:]] == [None, "up", None]
    assert set(told[2].probabilities) == {"up", "down"}
    numbers = spark.predict(rows.withColumn("y", rows["x"]), PUFERegressor, ["z"], key="site", target="y")
    assert numbers.dtypes[-1] == ("prediction", "double")


def test_a_state_elsewhere_is_refused():
    name = "spark.sql.streaming.stateStore.providerClass"
    rows = session().readStream.schema(SCHEMA).json(str(PARENT))
    session().conf.unset(name)
    try:
        with pytest.raises(ValueError, match="must be in RocksDB: set spark"):
            spark.predict(rows, PUFEClassifier, "x", key="site", target="y")
    finally:
        session().conf.set(name, ROCKSDB)
