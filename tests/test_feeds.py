"""Does the command line read files in the shapes that they really have, and run for months?"""

from __future__ import annotations

import csv
import json
import math
import pickle
import random

import numpy as np
import pytest
from river import linear_model, metrics
from test_cli import call, lines_of, samples, spawn, wait_for, warm, write_csv, write_jsonl, x_of

from river_pufe import PUFEClassifier, files, state
from river_pufe.cli import alarms, ranking, saved, show
from river_pufe.cli import tally as tally_of


def readings(rows):
    """Samples as readings in the long format, a minute apart, of sensors that report one after another."""
    for t, row in enumerate(rows):
        for i, (name, value) in enumerate(row.items()):
            if value is not None and name != "day":
                yield {"time": 60 * t + i, "sensor": name, "value": value}


# Shapes.


def test_long_readings_are_the_samples_that_they_were_taken_of(tmp_path):
    rows = [{**row, "heat": row["heat"] if t % 10 == 3 else None} for t, row in enumerate(samples(200))]
    wide = call("run", write_jsonl(tmp_path / "a.jsonl", rows), "--target", "warm", "--ignore", "heat", "--time", "day")
    long = call(
        *("run", write_csv(tmp_path / "b.csv", readings(rows)), "--long", "time,sensor,value", "--every", "1min"),
        *("--target", "warm", "--ignore", "heat"),
    )
    accuracy = [line for line in wide.splitlines() if "Accuracy" in line]
    assert accuracy == [line for line in long.splitlines() if "Accuracy" in line]
    assert "200 samples" in long
    assert "readings" in long
    assert "1970-01-01T01:40:00Z): opened new a, new b" in long


def test_long_readings_late_and_twice_are_counted(tmp_path):
    rows = [row for row in readings(samples(50)) if row["sensor"] != "heat"]
    place = [i for i, row in enumerate(rows) if row["sensor"] == "new a"][5]
    rows[100], rows[place:place] = {**rows[100], "time": 0}, [rows[place]]
    file = write_csv(tmp_path / "a.csv", rows)
    output = call("run", file, "--long", "time,sensor,value", "--every", "60s", "--target", "warm", "--ignore", "heat")
    assert "1 late reading" in output
    assert "1 duplicate reading" in output


def test_a_target_that_reports_at_other_times_is_told(tmp_path):
    rows = [{"t": 600 * t + 90 * i, "s": "ab"[i], "v": t % 5 + i} for t in range(100) for i in range(2)]
    long = [write_csv(tmp_path / "a.csv", rows), "--long", "t,s,v", "--target", "b", "--task", "regression"]
    output = " ".join(call("run", *long[:-2], "--every", "1min", code=2).split())
    assert "there is no value of 'b' in the first 100 samples" in output
    assert "say a longer --every, or --hold" in output
    assert "100 targets without other readings" in call("run", *long, "--every", "1min")
    assert "Progressive validation of 99 samples" in call("run", *long, "--every", "10min")
    # What holds ends with the last reading of a sensor, and with it the last sample.
    assert "Progressive validation of 98 samples" in call("run", *long, "--every", "1min", "--hold", "5min")


def test_sensors_may_be_named_by_several_columns(tmp_path):
    rows = [{"t": 60 * t, "room": t % 2, "what": "heat", "v": t % 5, "y": t % 2} for t in range(100)]
    output = call("spaces", write_jsonl(tmp_path / "a.jsonl", rows), "--long", "t,room,what,v", "--every", "1min")
    assert "0.heat" in output
    assert "1.heat" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--long", "t,s"], "name three columns"),
        (["--long", "t,s,v"], "--long needs --every"),
        (["--every", "1min"], "--every is for readings in the long format"),
        (["--long", "t,s,v", "--every", "soon"], "--every: 'soon' is not a span of time"),
        (["--long", "t,s,v", "--every", "1ms", "--hold", "1d"], "hold is more than 100,000 intervals"),
        (["--long", "day,sensor,warm", "--every", "1s"], "no column 'sensor'"),
        (["--alarms", "3"], "--alarms is a number a day, so it needs --time"),
        (["--alarms", "3", "--threshold", ".5", "--time", "day"], "exclude each other"),
        (["--save-every", "10"], "--save-every needs --save"),
        (["--task", "regression", "--positive", "a"], "--positive is about classes"),
    ],
)
def test_misuse_is_told(tmp_path, arguments, message):
    file = write_csv(tmp_path / "a.csv", ({**row, "day": f"d{i}"} for i, row in enumerate(samples())))
    rest = [] if "--target" in arguments else ["--target", "warm"]
    assert message in " ".join(call("run", file, *rest, *arguments, code=2).split())


def test_a_metric_of_one_class_of_many_ends_nothing(tmp_path):
    file = write_csv(tmp_path / "a.csv", ({"a": t, "y": "xyz"[t % 3]} for t in range(30)))
    output = call(
        "run", file, "--target", "y", "--metric", "F1", "--metric", "Accuracy", "--save", tmp_path / "m.state"
    )
    assert "of which of 3 classes? (--positive)" in output
    assert "Accuracy" in output
    assert "Saved" in output


def test_a_class_that_never_comes_is_told(tmp_path):
    file = write_csv(tmp_path / "a.csv", ({"a": t, "y": "xyz"[t % 3]} for t in range(30)))
    output = call("run", file, "--target", "y", "--positive", "Z")
    assert "y has no class 'Z' (see --positive): did you mean 'z'? It has y, z, x" in output


def test_several_files_and_a_new_header(tmp_path):
    rows = [{name: value for name, value in row.items() if value is not None} for row in samples()]
    parts = [rows[:100], rows[100:150], rows[200:]]
    first = tmp_path / "d1.csv"
    texts = [write_csv(first, [{**part[0], **row} for row in part if row.keys() == part[0].keys()]) for part in parts]
    texts = []
    for i, part in enumerate(parts):
        same = [row for row in part if row.keys() == part[0].keys()]
        texts.append(write_csv(tmp_path / f"{i}.csv", same).read_text())
    together = tmp_path / "all.csv"
    together.write_text("".join(texts))
    output = warm(together)
    assert "repeated header" in output
    assert "new header: with new a, new b and without old a, old b" in output
    out = tmp_path / "out.jsonl"
    several = warm(tmp_path / "0.csv", tmp_path / "1.csv", tmp_path / "2.csv", "--predictions", out)
    assert [line for line in several.splitlines() if "Accuracy" in line] == [
        line for line in output.splitlines() if "Accuracy" in line
    ]
    assert lines_of(out)[-1]["file"] == str(tmp_path / "2.csv")


def test_nested_json_with_numbers_in_strings(tmp_path):
    rows = [{"s": {"a": str(i % 7), "b": {"c": i}}, "label": {"fault": i % 7 > 3}} for i in range(100)]
    output = call("run", write_jsonl(tmp_path / "a.jsonl", rows), "--target", "label.fault")
    assert "s.a, s.b.c" in output
    assert "label.fault, for example False: classification" in output
    assert "did you mean 'label.fault'?" in call("run", tmp_path / "a.jsonl", "--target", "fault", code=2)


def test_libsvm_leaves_out_zeros(tmp_path):
    file = tmp_path / "a.libsvm"
    file.write_text("".join(f"{'+1' if i % 3 else '-1'} {i % 3 + 1}:1\n" for i in range(200)))
    model = tmp_path / "model.pkl"
    output = call("run", file, "--target", "label", "--save", model)
    assert "what is absent is zero" in output
    assert pickle.loads(model.read_bytes()).absent == "zero"


def test_no_traceback_for_a_header_in_another_encoding(tmp_path):
    file = tmp_path / "a.csv"
    file.write_bytes("größe,y\n".encode("latin-1") + b"1,0\n2,1\n" * 20)
    figure = tmp_path / "a.png"
    assert "say --encoding latin-1" in call("run", file, "--target", "y", "--figure", figure, code=1)
    assert "größe" in call("run", file, "--target", "y", "--figure", figure, "--encoding", "latin-1")
    file = tmp_path / "b.jsonl"
    file.write_text('{"\\ud800$x_": 1, "y": 0}\n{"\\ud800$x_": 2, "y": 1}\n' * 20)
    call("run", file, "--target", "y", "--figure", figure, "--report", tmp_path / "a.html")


# Guesses and advice.


@pytest.mark.parametrize(
    ("first", "rest", "task"),
    [
        ("unknown", [20.5, 21.25, 19.0], "regression"),
        (1, ["on", "off"], "classification"),
        (3, [2.5, 4.0], "regression"),
    ],
)
def test_the_majority_decides(tmp_path, first, rest, task):
    rows = [{"x": float(i % 5), "y": first if i == 0 else rest[i % len(rest)]} for i in range(60)]
    file = write_csv(tmp_path / "a.csv", rows)
    output = call("run", file, "--target", "y", "--na", "unknown")
    assert f": {task} (see --task)" in output


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        ("unknown", "say --na unknown"),
        ("unavailable", "say --na unavailable"),
        ("0,5", "say --decimal-comma"),
        ("ERR 7", "say --na 'ERR 7'"),
        ("inf", "say --na inf"),
    ],
)
@pytest.mark.parametrize("place", [0, 30])
def test_the_cure_is_right_for_its_case(tmp_path, value, advice, place):
    rows = [{"x y": i / 2 if i != place else f'"{value}"', "y": i % 2} for i in range(60)]
    file = write_csv(tmp_path / "a.csv", rows)
    output = call("run", file, "--target", "y", code=1)
    assert f"line {place + 2}: 'x y' is" in output
    assert advice in output
    option = [word.strip("'") for word in advice.removeprefix("say ").split(" ", 1)]
    assert "60 samples" in call("run", file, "--target", "y", *option)


def test_strings_and_times_have_other_cures(tmp_path):
    rows = [{"city": "Rome" if i % 2 else "Oslo", "x": i, "y": i % 2} for i in range(40)]
    assert "say --one-hot to encode it, or --ignore city" in call(
        "run", write_csv(tmp_path / "a.csv", rows), "--target", "y", code=1
    )
    rows = [{"at": f"2024-01-01T00:{i:02}:00+01:00", "x": i, "y": i % 2} for i in range(40)]
    file = write_csv(tmp_path / "b.csv", rows)
    assert "say --time at if it is when" in call("run", file, "--target", "y", code=1)
    assert "40 samples" in call("run", file, "--target", "y", "--time", "at")


def test_a_number_in_a_column_of_strings_is_encoded(tmp_path):
    rows = [{"kind": ["1", "a", "b"][i % 3], "x": i, "y": i % 3 == 0} for i in range(200)]
    output = call("run", write_csv(tmp_path / "a.csv", rows), "--target", "y", "--one-hot")
    assert "kind=1" in output


def test_values_that_may_stand_for_absent_ones_are_pointed_out(tmp_path):
    rows = [{"CO": -200 if i % 20 == 0 else 2 + i / 100, "y": i % 2} for i in range(200)]
    file = write_csv(tmp_path / "a.csv", rows)
    for command in (["run", file, "--target", "y"], ["spaces", file]):
        assert "CO is -200 in 5.0% of its values; if that means absent, say --na -200" in call(*command)
        assert "if that means absent" not in call(*command, "--na", "-200")


def test_targets_that_may_stand_for_absent_ones_are_pointed_out_as_well(tmp_path):
    rows = ({"a": t, "state": "unknown" if t % 10 == 3 else "on" if t % 3 else "off"} for t in range(100))
    output = call("run", write_csv(tmp_path / "a.csv", rows), "--target", "state")
    assert "state is unknown in 10.0% of its values; if that means absent, say --na unknown" in output


def test_time_that_runs_backwards_is_told(tmp_path):
    rows = [{"t": 100 + (i if i != 30 else -5), "x": i, "y": i % 2} for i in range(60)]
    output = call("run", write_csv(tmp_path / "a.csv", rows), "--target", "y", "--time", "t")
    assert "line 32: time runs backwards: 95 after 129" in output
    assert "1 step back in time" in output


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("1 row of units", "2 rows of units"),
        ("1 step back in time", "2 steps back in time"),
        ("1 target without other readings", "2 targets without other readings"),
        ("1 repeated header", "2 repeated headers"),
    ],
)
def test_what_was_left_out_is_counted_in_words(one, many):
    assert [show.count(n, one[2:]) for n in (1, 2)] == [one, many]


# A pipe.


def test_a_pipe_is_answered_from_the_first_line_on():
    process = spawn("run", "-", "--target", "y", "--predictions", "-")
    for i in range(5):
        process.stdin.write(json.dumps({"x": i, "y": i % 2 or 0.5}) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["line"] == i + 1
    _, told = process.communicate(timeout=300)
    assert "y, for example 0.5: regression" in told


@pytest.mark.parametrize("lines", [[0, 1, 0, 1, 2.5, 3.5], ["unknown", 1.5, 2.5, 3.5]])
def test_a_pipe_thinks_again(tmp_path, lines):
    rows = [{"x": float(i % 5), "y": lines[min(i, len(lines) - 1)]} for i in range(60)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    output = call("run", "-", "--target", "y", "--na", "unknown", input=text)
    assert "regression (see --task)" in output
    file = write_jsonl(tmp_path / "a.jsonl", rows)
    expected = call("run", file, "--target", "y", "--na", "unknown")
    assert [x for x in output.splitlines() if "MAE" in x] == [x for x in expected.splitlines() if "MAE" in x]


# A model that runs for months.


def test_a_saved_model_knows_what_it_was_trained_for(tmp_path):
    model = tmp_path / "m.pkl"
    file = write_csv(tmp_path / "a.csv", samples())
    warm(file, "--save", model)
    output = call("run", file, "--load", model)
    assert "Accuracy" in output
    # When spaces opened is remembered as well.
    rest = write_csv(tmp_path / "rest.csv", list(samples())[-10:])
    assert "day 150" in call("run", rest, "--load", model)
    for wrong, message in (
        (["--target", "heat"], "was saved with --target warm: leave --target out"),
        (["--ignore", "old a"], "was saved with --ignore heat: leave --ignore out"),
        (["--time", "old a"], "was saved with --time day"),
        (["--long", "day,heat,warm", "--every", "1min"], "was saved without --long"),
        (["--task", "regression"], "not a model for regression"),
    ):
        assert message in call("run", file, "--load", model, *wrong, code=2)


def test_a_model_of_another_version_is_refused(tmp_path, monkeypatch):
    model = tmp_path / "m.pkl"
    file = write_csv(tmp_path / "a.csv", samples())
    before = saved.versions()
    monkeypatch.setattr(saved, "versions", lambda: {**before, "river": "0.1.0"})
    warm(file, "--save", model)
    assert "was saved by river 0.1.0, and this is" in call("run", file, "--load", model, code=1)


def test_a_model_saved_now_and_then_loses_no_more(tmp_path):
    model = tmp_path / "m.pkl"
    rows = list(samples())
    process = spawn(
        "run", "-", "--target", "warm", "--ignore", "heat", "--time", "day", "--save", model, "--save-every", 50
    )
    process.stdin.write("".join(json.dumps(row) + "\n" for row in rows[:130]))
    process.stdin.flush()

    def rounds():
        return pickle.loads(model.read_bytes()).rounds if model.exists() else 0

    wait_for(lambda: rounds() == 100)
    process.kill()
    process.communicate(timeout=300)
    expected = PUFEClassifier()
    for row in rows[:100]:
        expected.observe_one(x_of(row)) if row["warm"] is None else expected.learn_one(x_of(row), row["warm"])
    restored = pickle.loads(model.read_bytes())
    assert restored.predict_proba_one(x_of(rows[100])) == expected.predict_proba_one(x_of(rows[100]))


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_nothing_is_overwritten(tmp_path, suffix):
    file = write_csv(tmp_path / "a.csv", samples(50))
    out, events = tmp_path / f"out.{suffix}", tmp_path / f"events.{suffix}"
    outputs = ["--predictions", out, "--events", events]
    warm(file, *outputs)
    once = out.read_text(), events.read_text()
    assert "is there already: say --append" in warm(file, *outputs, code=2)
    assert (out.read_text(), events.read_text()) == once
    warm(file, *outputs, "--append")
    for path, before in zip((out, events), once):
        header = before.splitlines(keepends=True)[0] if suffix == "csv" else ""
        assert path.read_text() == before + before.removeprefix(header)


def test_events_are_told_in_full(tmp_path):
    events, predictions = tmp_path / "e.jsonl", tmp_path / "p.csv"
    output = warm(write_csv(tmp_path / "a.csv", samples()), "--events", events, "--predictions", predictions)
    found = lines_of(events)
    assert found[0] == {"line": 2, "time": "day 0", "round": 0, "kind": "opened", "keys": ["old a", "old b"]}
    assert [event["kind"] for event in found].count("overlap ended") == 1
    with predictions.open() as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["prediction"] == ""
    assert rows[5].keys() == {"file", "line", "time", "target", "prediction", "probability", "alarm"}
    assert 0 <= float(rows[5]["probability"]) <= 1
    assert "day 150" in output.partition("Feature spaces")[2]


# A rare class, and is it worth it?


def faults(n=3000, seed=1):
    rng = random.Random(seed)
    for t in range(n):
        fault = rng.random() < 0.03
        x = {"a": rng.gauss(2 * fault, 1), "b": rng.gauss(0, 1)}
        yield {"time": f"2024-01-01T00:00:{0:02}", "at": 600 * t, **x, "state": "fault" if fault else "ok"}


@pytest.fixture
def plant(tmp_path):
    return write_csv(tmp_path / "plant.csv", faults())


def values_of(output):
    """Metrics with their values."""
    pairs = [line.strip().rsplit(maxsplit=1) for line in output.splitlines() if line.strip().endswith("%")]
    return {name.strip(): float(value.rstrip("%")) for name, value in pairs}


def test_metrics_are_those_of_the_rare_class(plant):
    rest = ["--target", "state", "--time", "at", "--ignore", "time"]
    values = values_of(call("run", plant, *rest))
    assert 2 < values["base rate of fault"] < 4
    assert values["average precision of fault"] > 3 * values["base rate of fault"]
    same = values_of(call("run", plant, *rest, "--positive", "fault"))
    assert same == values
    other = values_of(call("run", plant, *rest, "--positive", "ok"))
    assert other["base rate of ok"] == pytest.approx(100 - values["base rate of fault"])
    single = values_of(call("run", plant, *rest, "--metric", "Recall", "--metric", "F1", "--metric", "ROCAUC"))
    assert single["Recall"] == pytest.approx(values["recall of fault"], abs=0.1)
    assert single["ROCAUC"] > 70


def test_a_threshold_raises_alarms(plant, tmp_path):
    out = tmp_path / "out.jsonl"
    rest = ["--target", "state", "--time", "at", "--ignore", "time", "--predictions", out]
    output = call("run", plant, *rest, "--threshold", "0.1")
    lines = lines_of(out)[1:]
    assert all(line["alarm"] == (line["probabilities"].get("fault", 0) >= 0.1) for line in lines[200:])
    n = sum(line["alarm"] for line in lines)
    assert f"{n} alarms" in output
    values = values_of(output)
    hits = sum(line["alarm"] and line["target"] == "fault" for line in lines)
    assert values["precision of fault"] == pytest.approx(100 * hits / n, abs=0.1)


@pytest.mark.parametrize("threshold", [0, 1])
def test_a_threshold_holds_for_the_rival_as_well(plant, threshold):
    rest = ["--target", "state", "--time", "at", "--ignore", "time", "--threshold", threshold]
    output = call("run", plant, *rest, "--rival")
    (row,) = [line.split() for line in output.splitlines() if "recall of fault" in line]
    # Before the first fault it is not known which class matters.
    assert [float(cell.rstrip("%")) > 90 for cell in row[-2:]] == [threshold == 0] * 2


def test_a_budget_of_alarms_is_kept(plant, tmp_path):
    out = tmp_path / "out.jsonl"
    call("run", plant, "--target", "state", "--time", "at", "--ignore", "time", "--alarms", 4, "--predictions", out)
    lines = lines_of(out)
    days = 600 * len(lines) / 86400
    assert 3 < sum(line["alarm"] for line in lines) / days < 5


@pytest.mark.parametrize("target", ["warm", "heat"])
def test_a_rival_stands_beside(tmp_path, target):
    rows = list(samples())
    file, figure = write_csv(tmp_path / "a.csv", rows), tmp_path / "a.svg"
    ignored = {"warm": "heat", "heat": "warm"}[target]
    output = call("run", file, "--target", target, "--ignore", ignored, "--time", "day", "--rival", "--figure", figure)
    assert "River's linear model" in output
    first = "Accuracy" if target == "warm" else "MAE"
    (row,) = [line for line in output.splitlines() if first in line]
    assert len(row.split()) == 3


def test_ranking_is_average_precision():
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = random.Random(3)
    found = ranking.Ranking()
    truth = [rng.random() < 0.1 for _ in range(2000)]
    p = [ranking.least(ranking.bucket(1 / (1 + math.exp(-rng.gauss(2 * y - 2, 1))))) + 1e-9 for y in truth]
    found.add(np.array(truth), np.array(p))
    assert found.average_precision() == pytest.approx(sklearn.average_precision_score(truth, p))
    assert found.average_precision(reverse=True) == pytest.approx(
        sklearn.average_precision_score([not y for y in truth], [1 - value for value in p])
    )
    found.add(np.array(truth[:1000]), np.array(p[:1000]), n=-1)
    assert found.average_precision() == pytest.approx(sklearn.average_precision_score(truth[1000:], p[1000:]))


def test_probabilities_have_the_same_bucket_one_by_one():
    p = np.concatenate((np.random.default_rng(1).random(1000), [-0.1, 0.0, 1e-300, 1.0, 1.1]))
    assert ranking.buckets(p).tolist() == [ranking.bucket(value) for value in p.tolist()]


@pytest.mark.parametrize("window", [1, 7, 5000])
def test_metrics_asked_for_late_are_those_of_each_sample(window):
    rng = random.Random(window)
    tally, first = tally_of.Tally(window), "b"
    judged = [(rng.choice("bcd"), rng.choice("bcd"), rng.random()) for _ in range(2500)]
    for n, (y, label, p) in enumerate(judged, start=1):
        first = judged[0][0]
        tally.add(y, label, {first: p})
        if n in (1, 3, 1030, 2500):
            for counts, samples in ((tally.all, judged[:n]), (tally.latest, judged[:n][-window:])):
                matrix, ranks = metrics.ConfusionMatrix(), ranking.Ranking()
                for y, label, p in samples:
                    matrix.update(y, label)
                    ranks.add(np.array([y == first]), np.array([p]))
                assert {k: dict(v) for k, v in counts.confusion.data.items()} == {
                    k: dict(v) for k, v in matrix.data.items()
                }
                assert counts.confusion.n_samples == matrix.n_samples == counts.ranking.n
                assert counts.ranking.average_precision() == pytest.approx(ranks.average_precision(), nan_ok=True)


def test_a_budget_follows_drift():
    rng = random.Random(1)
    budget, alarms_of_day = alarms.Budget(5), [0] * 100
    for minute in range(100 * 1440):
        day = minute // 1440
        p = rng.random() ** 2 if day < 50 else rng.random() ** 6
        alarms_of_day[day] += p >= budget.threshold
        budget.update(p, 60.0 * minute)
    assert 3 < sum(alarms_of_day[20:50]) / 30 < 7
    assert 1 < sum(alarms_of_day[80:]) / 20 < 7


# Reports.


def test_a_report_is_one_page_without_a_network(tmp_path):
    path = tmp_path / "report.html"
    file = write_csv(tmp_path / "<plant>.csv", samples())
    warm(file, "--report", path, "--rival")
    page = path.read_text()
    assert "http" not in page
    assert "&lt;plant&gt;.csv" in page
    for word in (
        "data:image/png;base64,",
        "River&#x27;s linear model",
        "old a",
        "vanished",
        "overlap ended",
        "<td>day 150</td><td>opened</td>",
        "first seen about",
    ):
        assert word in page


def test_the_parts_of_a_reader_are_public():
    assert set(files.__all__) >= {"Reader", "gather", "OneHotStrings", "Suspects"}


def test_a_model_is_saved_without_code(tmp_path):
    """What goes on from a state answers as what goes on from a pickle."""
    rows, answers = list(samples()), []
    for name in ("m.state", "m.pickle"):
        model, out = tmp_path / name, tmp_path / f"{name}.jsonl"
        warm(write_jsonl(tmp_path / f"1 {name}", rows[:155]), "--one-hot", "--save", model)
        again = tmp_path / f"again {name}"
        warm(write_jsonl(tmp_path / f"2 {name}", rows[155:]), "--load", model, "--predictions", out, "--save", again)
        answers.append(lines_of(out))
        assert pickle.loads(model.read_bytes()) if name == "m.pickle" else state.loads(model.read_bytes())
    assert answers[0] == answers[1]
    assert again.exists()


def test_a_state_can_be_a_model_alone(tmp_path):
    model = tmp_path / "m"
    model.write_bytes(state.dumps(PUFEClassifier()))
    assert "Accuracy" in warm(write_csv(tmp_path / "a.csv", samples()), "--load", model)
    model.write_bytes(b"\x89pufe")
    assert "not a model that can be loaded" in warm(tmp_path / "a.csv", "--load", model, code=1)


def test_code_of_other_packages_is_saved_in_pickles_only(tmp_path):
    model, file = tmp_path / "m.pkl", write_csv(tmp_path / "a.csv", samples())
    model.write_bytes(pickle.dumps(PUFEClassifier(linear_model.LogisticRegression())))
    assert "let its name end in .pickle" in warm(file, "--load", model, "--save", tmp_path / "m.state", code=2)
