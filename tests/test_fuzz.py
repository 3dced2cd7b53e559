"""Does any input get an answer or one clear error, and nothing run, hang or grow without bound?

usage: python tests/test_fuzz.py [--inputs 100000]

Inputs are files (csv, JSON lines, LIBSVM, readings in the long format, compressed or not), states and stores: sound
ones, and what damage or malice makes of them. As a test it tries a few; as a command it goes on until so many were
tried.
"""

from __future__ import annotations

import argparse
import bz2
import contextlib
import copy
import functools
import gzip
import json
import lzma
import math
import pathlib
import resource
import signal
import struct
import tempfile
import warnings
import zlib

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from river_pufe import FeatureRecovery, PUFEClassifier, PUFERegressor, baselines, files, state
from river_pufe.aggregation import Hedge
from river_pufe.cli.commands import app
from river_pufe.experts import LinearExperts, RandomFourier
from river_pufe.experts.learners import OnlineGradientDescent
from river_pufe.experts.per_space import SpaceExperts
from river_pufe.fleet import Fleet, SQLiteStore

#: Seconds that an input may take, megabytes that all of them may need, and letters of a message.
SECONDS, MEGABYTES, LETTERS = 20, 2000, 1500

tried = 0


@contextlib.contextmanager
def bounded():
    """An error where something hangs."""
    global tried
    tried += 1

    def stop(number, frame):
        raise AssertionError(f"more than {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# Files.

words = st.sampled_from(
    [
        *(
            "",
            "a",
            "b",
            "y",
            "t",
            "NaN",
            "nan",
            "inf",
            "-inf",
            "1",
            "0",
            "-200",
            "1.5",
            "1e308",
            "1e400",
            "5e-324",
            "1_0",
        ),
        *(
            "1,5",
            "true",
            "null",
            "x\ty",
            '"',
            "''",
            ",",
            ";",
            "#group",
            "# a",
            "\0",
            "é",
            "\ud800",
            "\ufeff",
            "9" * 5000,
        ),
        *("2024-01-01T00:00:00Z", "2024-01-01", "1e17", "-1e300", "99999-01-01", "qid:1", "1:2", "a" * 300, "{", "[]"),
    ]
)
texts = st.one_of(words, words, st.text(max_size=5))
scalars = st.one_of(
    st.floats(), st.floats(-9, 9), st.booleans(), st.none(), texts, st.integers(), st.just(10**400), st.just(-(2**63))
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
names = st.one_of(st.sampled_from(["a", "b", "y", "t", "a.b", "s"]), texts)


def deep(depth, kind):
    return "[" * depth + "1" + "]" * depth if kind == "[" else '{"a":' * depth + "1" + "}" * depth


json_lines = st.lists(
    st.one_of(
        st.dictionaries(names, values, max_size=5).map(json.dumps),
        st.dictionaries(st.sampled_from(["a", "b", "y", "t"]), st.floats(-9, 9), min_size=2).map(json.dumps),
        values.map(json.dumps),
        st.builds(
            lambda depth, kind: '{"a":' + deep(depth, kind) + "}",
            st.sampled_from([50, 600, 5000, 90_000]),
            st.sampled_from("[{"),
        ),
        st.integers(100, 3000).map(lambda n: json.dumps({f"k{i}": i / 7 for i in range(n)})),
        texts,
    ),
    max_size=8,
).map("\n".join)
cells = st.one_of(texts, st.floats(-9, 9).map(str), st.sampled_from(["1", "0", ""]))


@st.composite
def tables(draw):
    delimiter = draw(st.sampled_from(",;\t|"))
    end = draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n"]))
    header = draw(st.one_of(st.just(["a", "b", "y", "t"]), st.lists(names, max_size=5)))
    rows = draw(
        st.lists(
            st.one_of(st.lists(cells, min_size=len(header), max_size=len(header)), st.lists(cells, max_size=6)),
            max_size=8,
        )
    )
    return end.join(delimiter.join(row) for row in [header, *rows])


@st.composite
def long_tables(draw):
    times = st.one_of(
        st.integers(0, 500).map(str), texts, st.floats().map(str), st.sampled_from(["1e15", "-4e9", "253402300800"])
    )
    readings = draw(st.lists(st.tuples(times, st.sampled_from(["a", "b", "y"]), cells), max_size=30))
    return "\n".join(["t,s,v", *map(",".join, readings)])


libsvm = st.lists(
    st.one_of(
        st.builds(lambda y, x: " ".join([y, *x]), texts, st.lists(st.builds("{}:{}".format, texts, cells), max_size=4)),
        texts,
    ),
    max_size=6,
).map("\n".join)


@st.composite
def damaged(draw, content):
    """Bytes with some of them cut off, doubled or changed."""
    for _ in range(draw(st.sampled_from([0, 0, 1, 3]))):
        at = draw(st.integers(0, len(content)))
        content = draw(
            st.sampled_from(
                [content[:at], content[:at] + content[at // 2 :], content[:at] + bytes([at % 256]) + content[at + 1 :]]
            )
        )
    return content


@st.composite
def written(draw, text):
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16", "latin-1", "utf-8-sig"]))
    content = draw(text).encode(encoding, "surrogatepass" if encoding.startswith("utf") else "replace")
    compress = draw(st.sampled_from([bytes, bytes, bytes, gzip.compress, bz2.compress, lzma.compress]))
    return draw(damaged(compress(draw(damaged(content)))))


def run(path, *arguments, command="run"):
    """A run of the command line: it ends by itself, and says what it has to say."""
    with bounded():
        result = CliRunner().invoke(app, [command, str(path), *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in (0, 1, 2, 3), result.output
    assert "Traceback" not in result.output
    assert max(map(len, result.output.splitlines()), default=0) <= LETTERS, result.output
    return result


@given(
    written(st.one_of(json_lines, tables(), libsvm)),
    st.sampled_from(["a.jsonl", "a.csv", "a.svm", "a", "a.parquet"]),
    st.sampled_from(["classification", "regression", None]),
    st.sets(
        st.sampled_from(
            ["--one-hot", "--decimal-comma", "--on-error=skip", "--time=t", "--na=-200", "--rival", "--key=b"]
        )
    ),
)
def try_files(content, name, task, options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, name)
        path.write_bytes(content)
        with bounded(), contextlib.suppress(files.FileError), files.Reader(path) as reader:
            for line in reader:
                assert len(line.error) + len(line.note) <= LETTERS
        run(path, "--target", "y", *([f"--task={task}"] if task else []), *options)
        run(path, *(options & {"--decimal-comma", "--on-error=skip", "--time=t", "--na=-200"}), command="spaces")


spans = st.sampled_from(["1s", "10s", "1min"])


@given(written(long_tables()), spans, spans, spans, spans, st.sets(st.sampled_from(["hold", "lateness", "wait"])))
def try_readings(content, every, hold, lateness, wait, wanted):
    spans = {"hold": hold, "lateness": lateness, "wait": wait}
    options = [f"--{name}={spans[name]}" for name in wanted]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.csv")
        path.write_bytes(content)
        arguments = ["--long=t,s,v", f"--every={every}", "--target=y", "--task=regression", "--on-error=skip"]
        run(path, *arguments, *options)


# States.

MODELS = {
    "classifier": PUFEClassifier,
    "regressor": PUFERegressor,
    "recovery": FeatureRecovery,
    "paper": PUFERegressor.paper,
    "FESL": lambda: baselines.FESLClassifier(strategy="selection", seed=1),
    "OLVF": baselines.OLVFClassifier,
    "features": lambda: PUFERegressor(LinearExperts(maps=(RandomFourier(n_features=5),)), aggregator=Hedge()),
    "spaces": lambda: PUFEClassifier(SpaceExperts(OnlineGradientDescent())),
}


def sample(t):
    a = math.sin(t)
    x = {"a": a, "b": math.cos(3 * t), "c": 2 * a, "d": a - t % 3}
    return {key: value for key, value in x.items() if (key in "ab" and t < 48) or (key in "cd" and t > 40)}


@functools.cache
def stored(name, n):
    """The state of a model that has learned n samples, as its text and its buffers."""
    model = MODELS[name]()
    for t in range(n):
        y = t % 3 == 0 if hasattr(model, "predict_proba_one") else math.sin(t)
        model.learn_one(sample(t), *([y] if model._supervised else []))
    data = state.dumps(model)
    length = int.from_bytes(data[16:24], "little")
    return json.loads(data[24 : 24 + length]), data[24 + length :]


def sealed(text, buffers):
    """The bytes of a state, with the right checksum."""
    encoded = json.dumps(text).encode()
    return data_of(encoded, buffers)


def data_of(encoded, buffers):
    header = len(encoded).to_bytes(8, "little")
    crc = zlib.crc32(encoded + buffers).to_bytes(4, "little")
    return b"\x89pufe\r\n\x1a" + (1).to_bytes(4, "little") + crc + header + encoded + buffers


def places(node, path=()):
    """Where there is something in a tree of lists and dicts."""
    yield path
    for key, each in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from places(each, (*path, key))


foreign = st.one_of(
    st.sampled_from(
        [math.nan, math.inf, -math.inf, -1, 0, 1, 2, 10**9, 10**18, -(10**9), 1e300, -0.5, True, None, "", "a"]
    ),
    st.sampled_from([[], {}, [1], {"tuple": []}, {"dict": [[1, 2]]}, {"deque": [10**18]}, {"int": "f" * 10_000}]),
    st.sampled_from([{"decimal": "1e999999999"}, {"fraction": ["1e999999999"]}, {"fraction": [1, 0]}, {"text": "x"}]),
    st.sampled_from([{"complex": [math.nan, 1]}, {"random": []}, {"scalar": 1}, {"set": [[]]}, {"bytes": [0, 10**9]}]),
    st.sampled_from(
        [{"array": ["<f8", [0], "C", 0]}, {"array": ["<f8", [2, 2], "F", 0]}, {"array": ["<U0", [10**9], "C", 0]}]
    ),
    st.sampled_from([{"array": ["<f8", [0, 10**18], "C", 0]}, {"array": ["|b1", [3], "C", 0]}, {"part": "Scatter"}]),
    values,
)


@st.composite
def tampered(draw):
    name = draw(st.sampled_from(sorted(MODELS)))
    text, buffers = stored(name, draw(st.sampled_from([0, 1, 30, 45, 60])))
    text, buffers = copy.deepcopy(text), bytearray(buffers)
    for _ in range(draw(st.integers(1, 2))):
        kind = draw(st.sampled_from(["replace", "drop", "copy", "numbers", "shape"]))
        where = list(places(text))
        path = where[draw(st.integers(0, len(where) - 1))]
        if kind == "numbers" and len(buffers) >= 8:
            at = draw(st.integers(0, len(buffers) // 8 - 1))
            number = draw(st.sampled_from([math.nan, math.inf, -1.0, 1e300, 1e-300, 0.0, 2.0]))
            buffers[8 * at : 8 * at + 8] = struct.pack("<d", number)
        elif path:
            parent = functools.reduce(lambda node, key: node[key], path[:-1], text)
            if kind == "drop":
                del parent[path[-1]]
            elif kind == "copy":
                other = where[draw(st.integers(0, len(where) - 1))]
                parent[path[-1]] = copy.deepcopy(functools.reduce(lambda node, key: node[key], other, text))
            else:
                parent[path[-1]] = copy.deepcopy(draw(foreign))
    return name, sealed(text, bytes(buffers))


def works(model):
    """Whether a model can be used: it answers with numbers that are finite, and learns or says why not."""
    for t in range(60, 66):
        x = sample(t)
        if isinstance(model, FeatureRecovery):
            answers, y = model.transform_one(x).values(), []
        elif hasattr(model, "predict_proba_one"):
            answers, y = model.predict_proba_one(x).values(), [t % 3 == 0]
        else:
            answers, y = [model.predict_one(x)], [math.sin(t)]
        assert all(map(math.isfinite, answers)), answers
        with contextlib.suppress(ValueError):
            model.learn_one(x, *y)


def loaded(data):
    """What is loaded, and why it is not."""
    try:
        return state.loads(data), ""
    except ValueError as error:
        return None, str(error)


@given(tampered())
def try_states(case):
    _, data = case
    with bounded():
        model, why = loaded(data)
        assert len(why) <= LETTERS
        if hasattr(model, "learn_one") and model.__class__.__module__.startswith("river_pufe"):
            works(model)


@given(st.data())
def try_bytes_that_are_no_state(data):
    text, buffers = stored("classifier", 30)
    content = data.draw(damaged(sealed(text, buffers)))
    if content == sealed(text, buffers):
        return
    with bounded(), pytest.raises(ValueError, match=r"state|damaged"):
        state.loads(content)


# Stores.


@functools.cache
def database():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.db")
        with Fleet(PUFEClassifier, "site", store=SQLiteStore(path)) as fleet:
            for t in range(40):
                fleet.learn_one({"site": "abc"[t % 3], **sample(t)}, t % 2 == 0)
        return path.read_bytes()


@given(st.data())
def try_stores(data):
    content = data.draw(damaged(database()))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(content)))
        content = content[:at] + data.draw(st.binary(max_size=40)) + content[at + 40 :]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.db")
        path.write_bytes(content)
        with bounded(), contextlib.suppress(OSError, ValueError):
            fleet = Fleet(PUFEClassifier, "site", store=SQLiteStore(path))
            try:
                for t in range(40, 50):
                    fleet.learn_one({"site": "abcd"[t % 4], **sample(t)}, t % 2 == 0)
                fleet.commit()
            finally:
                fleet.close(commit=False)
        lines = pathlib.Path(folder, "a.jsonl")
        lines.write_text('{"site": "a", "a": 1, "y": true}\n')
        run(lines, f"--load={path}")


FUZZERS = {
    "files": try_files,
    "readings": try_readings,
    "states": try_states,
    "bytes": try_bytes_that_are_no_state,
    "stores": try_stores,
}
few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("kind", FUZZERS)
def test_inputs_get_an_answer_or_one_clear_error(kind):
    few(FUZZERS[kind])()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000, help="how many inputs to try at least")
    parser.add_argument("kinds", nargs="*", default=list(FUZZERS), help=f"of {', '.join(FUZZERS)}; all by default")
    options = parser.parse_args()
    phases = (Phase.explicit, Phase.generate, Phase.shrink)
    many = settings(few, max_examples=500, phases=phases, database=None, derandomize=False, print_blob=True)
    fuzzers = [many(FUZZERS[kind]) for kind in options.kinds]
    while tried < options.inputs:
        for fuzzer in fuzzers:
            fuzzer()
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{tried:,} inputs, {megabytes:,.0f} MB at most", flush=True)
        assert megabytes < MEGABYTES


if __name__ == "__main__":
    main()
