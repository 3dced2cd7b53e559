"""Does the command line do what its help says, and end as it should?"""

from __future__ import annotations

import collections
import gzip
import json
import math
import os
import pathlib
import pickle
import random
import re
import signal
import subprocess
import sys
import time

import pytest
from river import evaluate, metrics
from typer.testing import CliRunner

import river_pufe
from river_pufe import PUFEClassifier, PUFERegressor, baselines, fleet, saving
from river_pufe.cli import show
from river_pufe.cli.commands import app

COMMAND = [sys.executable, "-m", "river_pufe"]
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}


def samples(n=300, seed=1):
    """Two sensors that are replaced, one after the other; every tenth sample has no target."""
    rng = random.Random(seed)
    for t in range(n):
        a, b = rng.gauss(20, 3), rng.gauss(0, 1)
        x = {"old a": a, "old b": b, "new a": 1.8 * a + 32, "new b": 2 * b - a / 10}
        gone = [
            name for name, is_gone in zip(x, (t >= n // 2 + 10, t >= n // 2 + 15, t < n // 2, t < n // 2)) if is_gone
        ]
        x = {name: None if name in gone else value for name, value in x.items()}
        y = None if t % 10 == 9 else a / 3 + 2 * b
        yield {"day": f"day {t}", **x, "warm": y if y is None else y > 7, "heat": y}


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_csv(path, rows):
    rows = list(rows)
    cells = [["" if value is None else str(value) for value in row.values()] for row in rows]
    path.write_text("\n".join(map(",".join, [list(rows[0]), *cells])) + "\n")
    return path


@pytest.fixture
def jsonl(tmp_path):
    return write_jsonl(tmp_path / "a.jsonl", samples())


@pytest.fixture
def csv(tmp_path):
    return write_csv(tmp_path / "a.csv", samples())


def call(*arguments, code=0, **kwargs):
    """Run a command in this process; returns what it said."""
    result = CliRunner().invoke(app, list(map(str, arguments)), **kwargs)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


def warm(file, *arguments, **kwargs):
    return call("run", file, "--target", "warm", "--ignore", "heat", "--time", "day", *arguments, **kwargs)


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def x_of(row):
    return {name: row[name] for name in ("old a", "old b", "new a", "new b")}


def taught(model, stream):
    """A model that has learned the first sample: before it nothing is known, and nothing is judged."""
    model.learn_one(*stream[0])
    return model


# run: what comes out


def test_what_each_feature_should_read_is_written(tmp_path):
    rng = random.Random(1)
    rows = []
    for t in range(200):
        heat = rng.gauss(20, 5)
        x = {"attic": heat + rng.gauss(0, 0.1), "cellar": heat / 2 + rng.gauss(0, 0.1), "warm": int(heat > 20)}
        rows.append({key: value for key, value in x.items() if t % 9 or key != "attic"})
    file, out = write_jsonl(tmp_path / "a.jsonl", rows), tmp_path / "expected.jsonl"
    output = call("run", file, "--target", "warm", "--recovered", out)
    model, lines = PUFEClassifier(), lines_of(out)
    for row in rows:
        x = {key: value for key, value in row.items() if key != "warm"}
        for key, (value, deviation) in model.expected_one(x).items():
            line = lines.pop(0)
            assert line["feature"] == key
            known = None if math.isnan(deviation) else deviation
            assert [line["value"], line["expected"], line["deviation"]] == [x.get(key), value, known]
        model.learn_one(x, row["warm"])
    assert not lines
    assert re.search(r"attic +176 +9\d%", output)
    assert "is there already" in call("run", file, "--target", "warm", "--recovered", out, code=2)


def test_run_is_progressive_validation(tmp_path):
    rows = [row for row in samples() if row["heat"] is not None]
    file = write_jsonl(tmp_path / "a.jsonl", rows)
    stream = [(x_of(row), row["warm"]) for row in rows]
    accuracy = evaluate.progressive_val_score(stream[1:], taught(PUFEClassifier(), stream), metrics.Accuracy())
    assert f"{accuracy.get():.2%}".rstrip("0") in warm(file)
    stream = [(x_of(row), row["heat"]) for row in rows]
    error = evaluate.progressive_val_score(stream[1:], taught(PUFERegressor(), stream), metrics.MAE())
    output = call("run", file, "--target", "heat", "--ignore", "warm", "--time", "day")
    assert f"{error.get():.6f}".rstrip("0") in output


def test_rows_without_a_target_are_predicted_and_observed(jsonl, tmp_path):
    out = tmp_path / "out.jsonl"
    assert "30 without a target" in warm(jsonl, "--predictions", out)
    model, expected = PUFEClassifier(), []
    for row in samples():
        expected.append(model.predict_proba_one(x_of(row)))
        model.observe_one(x_of(row)) if row["warm"] is None else model.learn_one(x_of(row), row["warm"])
    found = lines_of(out)
    assert [line["line"] for line in found] == list(range(1, 301))
    assert [line["time"] for line in found[:2]] == ["day 0", "day 1"]
    assert found[0]["prediction"] is None
    for line, row, probabilities in list(zip(found, samples(), expected))[1:]:
        assert line.get("target") == row["warm"]
        assert line["probabilities"] == {"false": probabilities[False], "true": probabilities[True]}
        assert line["prediction"] == max(probabilities, key=probabilities.get)


def test_csv_json_and_compressed_give_the_same(jsonl, csv, tmp_path):
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(csv.read_bytes()))
    found = []
    for i, file in enumerate((jsonl, csv, packed)):
        out = tmp_path / f"out {i}"
        warm(file, "--predictions", out)
        found.append([line["prediction"] for line in lines_of(out)])
    assert found[0] == found[1] == found[2]


def test_run_tells_spaces_and_events(jsonl):
    output = warm(jsonl)
    assert "line 151 (day 150): opened new a, new b" in output
    assert "vanished old a" in output
    assert "overlap ended new a, new b" in output
    assert output.count("retired") == 1
    assert "per second" in output


@pytest.mark.parametrize(("target", "task"), [("warm", "classification"), ("heat", "regression")])
def test_task_is_guessed_and_can_be_given(jsonl, target, task):
    rest = ["--ignore", "day", "--ignore", "heat" if target == "warm" else "warm"]
    assert f": {task} (see --task)" in call("run", jsonl, "--target", target, *rest)
    assert "see --task" not in call("run", jsonl, "--target", target, "--task", task, *rest)


@pytest.mark.parametrize(
    ("values", "metric"),
    [
        (["a", "b", "c"], "Accuracy"),
        ([0, 1], "Accuracy"),
        ([1.0, 0.0], "Accuracy"),
        (list(range(30)), "MAE"),
        ([0.5, 1], "MAE"),
    ],
)
def test_targets_of_all_kinds(tmp_path, values, metric):
    rng = random.Random(3)
    file = write_jsonl(tmp_path / "a.jsonl", ({"x": rng.gauss(0, 1), "y": rng.choice(values)} for _ in range(200)))
    assert metric in call("run", file, "--target", "y")


def test_few_whole_numbers_are_looked_at_until_it_is_clear(tmp_path):
    rows = [{"x": float(i), "y": i % 2} for i in range(60)] + [{"x": 1.0, "y": 0.5}] * 60
    assert "MAE" in call("run", write_jsonl(tmp_path / "a.jsonl", rows), "--target", "y")
    assert "Accuracy" in call("run", write_jsonl(tmp_path / "b.jsonl", rows[:60]), "--target", "y")


def test_a_file_of_strings_has_no_other_classes(tmp_path):
    rows = [{"x": float(i % 3), "y": "abc"[i % 3]} for i in range(100)]
    file = write_jsonl(tmp_path / "a.jsonl", rows)
    stream = [({"x": row["x"]}, row["y"]) for row in rows]
    metric = evaluate.progressive_val_score(stream[1:], taught(PUFEClassifier(), stream), metrics.MacroF1())
    output = call("run", file, "--target", "y", "--metric", "MacroF1")
    assert f"{metric.get():.2%}" in output
    assert "Progressive validation of 99 samples" in output
    assert "without a target" not in output


def test_metrics_can_be_chosen(jsonl):
    output = warm(jsonl, "--metric", "LogLoss", "--metric", "ROCAUC")
    assert "LogLoss" in output
    assert "ROCAUC" in output
    assert "Accuracy" not in output


def test_strings_are_encoded_on_request(tmp_path):
    rows = [
        {"x": 0.1 * (i % 7), "city": "Rome" if i % 3 else "Oslo", "y": "yes" if i % 3 else "no"} for i in range(200)
    ]
    file = write_jsonl(tmp_path / "a.jsonl", rows)
    output = call("run", file, "--target", "y", code=1)
    assert "line 1: 'city' is 'Oslo', which is not a number: say --one-hot to encode it, or --ignore city" in output
    output = call("run", file, "--target", "y", "--one-hot")
    assert "city=Rome" in output
    accuracy = float(output.partition("Accuracy")[2].partition("%")[0])
    assert accuracy > 95


def test_absence_can_mean_zero(tmp_path):
    rng = random.Random(1)
    rows = [{"always": 1.0, "far" if rng.random() < 0.5 else "near": 1.0} for _ in range(300)]
    rows = [{**row, "y": "far" in row} for row in rows]
    model = tmp_path / "m.pkl"
    call("run", write_jsonl(tmp_path / "a.jsonl", rows), "--target", "y", "--absent", "zero", "--save", model)
    assert pickle.loads(model.read_bytes()).absent == "zero"


def test_other_strings_can_stand_for_absence(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("x,y\n" + "1.5,yes\nNA,no\n" * 20)
    assert "skipped" not in call("run", file, "--target", "y", "--na", "NA")
    assert "line 3" in call("run", file, "--target", "y", code=1)


# run: saving and going on


def test_a_saved_model_goes_on_where_it_was(tmp_path):
    rows = list(samples())
    whole, first, second = (tmp_path / name for name in ("whole", "first", "second"))
    model = tmp_path / "model.pkl"
    warm(write_jsonl(tmp_path / "a.jsonl", rows), "--predictions", whole)
    warm(write_jsonl(tmp_path / "b.jsonl", rows[:155]), "--predictions", first, "--save", model)
    figure = tmp_path / "a.png"
    warm(write_jsonl(tmp_path / "c.jsonl", rows[155:]), "--predictions", second, "--load", model, "--figure", figure)
    together = [line["prediction"] for line in lines_of(first) + lines_of(second)]
    assert together == [line["prediction"] for line in lines_of(whole)]


def test_a_saved_model_is_one_of_river(jsonl, tmp_path):
    model = tmp_path / "model.pkl"
    warm(jsonl, "--one-hot", "--save", model)
    pipeline = pickle.loads(model.read_bytes())
    assert pipeline.predict_one({"new a": 90.0, "new b": 5.0}) in (True, False)
    assert pipeline["PUFEClassifier"].vanished == ("old a", "old b")


def test_models_of_the_package_can_be_loaded(jsonl, tmp_path):
    model = tmp_path / "model.pkl"
    model.write_bytes(pickle.dumps(baselines.NOGDClassifier()))
    assert "Accuracy" in warm(jsonl, "--load", model)


def test_new_data_need_no_target_column(jsonl, tmp_path):
    model, out = tmp_path / "model.pkl", tmp_path / "out.jsonl"
    warm(jsonl, "--save", model)
    rows = [{name: value for name, value in row.items() if name not in ("warm", "heat")} for row in samples(50)]
    file = write_csv(tmp_path / "new.csv", rows)
    output = call("run", file, "--target", "warm", "--time", "day", "--load", model, "--predictions", out)
    assert "50 without a target" in output
    assert all(line["prediction"] in (True, False) and "target" not in line for line in lines_of(out))


@pytest.mark.parametrize(
    ("content", "arguments", "code", "message"),
    [
        (b"nothing", [], 1, "is not a model that can be loaded"),
        (b"N)R.", [], 1, "is not a model that can be loaded"),
        (pickle.dumps({"a": 1}), [], 2, "dict is not a model of river_pufe"),
        (pickle.dumps(PUFERegressor()), ["--task", "classification"], 2, "not a model for classification"),
        (pickle.dumps(PUFEClassifier()), ["--absent", "zero"], 2, "--absent is settled"),
        (pickle.dumps(PUFEClassifier()), ["--one-hot"], 2, "--one-hot is settled"),
        (pickle.dumps(PUFEClassifier()), ["--metric", "MAE"], 2, "not made for classification"),
    ],
)
def test_what_cannot_be_loaded(jsonl, tmp_path, content, arguments, code, message):
    model = tmp_path / "model.pkl"
    model.write_bytes(content)
    assert message in warm(jsonl, "--load", model, *arguments, code=code)


def test_a_model_that_is_not_there(jsonl):
    assert "nowhere.pkl cannot be read: No such file or directory\n" in warm(jsonl, "--load", "nowhere.pkl", code=1)


def test_whole_numbers_are_times_as_they_are(tmp_path):
    rows = [{"t": 1700000000 + t, "x": t % 5, "y": t % 2} for t in range(50)]
    file, out = write_csv(tmp_path / "a.csv", rows), tmp_path / "out.jsonl"
    assert "line 2 (1700000000): opened x" in call("run", file, "--target", "y", "--time", "t", "--predictions", out)
    assert lines_of(out)[-1]["time"] == 1700000049


# run: a model for each key


@pytest.fixture
def sites(tmp_path):
    """Three sites whose samples come in turn, one with strings."""
    streams = [samples(100, seed) for seed in range(3)]
    rows = [
        {"site": f"site {n}", "mode": "ab"[t % 2], **row}
        for t, group in enumerate(zip(*streams))
        for n, row in enumerate(group)
    ]
    return write_jsonl(tmp_path / "sites.jsonl", rows)


def test_each_key_has_a_model_of_its_own(sites, tmp_path):
    out, events, told = tmp_path / "out.jsonl", tmp_path / "events.csv", {}
    output = warm(sites, "--key", "site", "--ignore", "mode", "--predictions", out, "--events", events)
    for row in lines_of(out):
        told.setdefault(row["key"], []).append((row["prediction"], row.get("probabilities")))
    rows = lines_of(sites)
    for site, answers in told.items():
        file = write_jsonl(tmp_path / f"{site}.jsonl", [row for row in rows if row["site"] == site])
        warm(file, "--ignore", "site", "--ignore", "mode", "--predictions", tmp_path / site)
        assert answers == [(row["prediction"], row.get("probabilities")) for row in lines_of(tmp_path / site)]
    assert len(told) == 3
    assert "line 1 (day 0): site 0 opened old a, old b" in output
    assert "site 2" in output
    assert events.read_text().startswith("file,line,time,round,kind,keys,factor,offset,key\n")


@pytest.mark.parametrize("encoded", [["--ignore", "mode"], ["--one-hot"]], ids=["numbers", "strings"])
def test_a_saved_fleet_goes_on_where_it_was(sites, tmp_path, encoded):
    whole, first, second, again = (tmp_path / name for name in ("whole", "first", "second", "again"))
    rows, saved, copy = lines_of(sites), tmp_path / "fleet.db", tmp_path / "copy.db"
    keyed = ["--key", "site", "--save-every", 40, "--save"]
    warm(sites, *encoded, *keyed, tmp_path / "whole.db", "--predictions", whole)
    warm(write_jsonl(tmp_path / "a", rows[:155]), *encoded, *keyed, saved, "--predictions", first)
    rest = write_jsonl(tmp_path / "b", rows[155:])
    call("run", rest, "--load", saved, "--predictions", again)
    call("run", rest, "--load", saved, "--save", copy)
    call("run", rest, "--load", saved, "--save", saved, "--predictions", second)
    together = [row["prediction"] for row in lines_of(first) + lines_of(second)]
    assert together == [row["prediction"] for row in lines_of(whole)]
    assert [row["prediction"] for row in lines_of(again)] == together[155:]
    last = write_jsonl(tmp_path / "c", rows[-3:])
    answers = [tmp_path / f"{n}.answers" for n in range(3)]
    for file, answer in zip((saved, copy, tmp_path / "whole.db"), answers):
        call("run", last, "--load", file, "--predictions", answer)
    assert answers[0].read_text() == answers[1].read_text() == answers[2].read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--figure", "a.png"], 2, "--figure is about one model"),
        (["--rival"], 2, "--rival is about one model"),
        (["--save", "model.pickle"], 2, "with --key it is a database"),
        (["--save", "sites.jsonl"], 2, "is there already"),
        (["--key", "sites"], 2, "has no column 'sites': did you mean 'site'?"),
        (["--load", "model.state", "--ignore", "site"], 2, "was saved without --key"),
        (["--load", "other.db"], 1, "was not saved by run --key"),
    ],
)
def test_what_cannot_be_done_by_key(sites, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    table = write_csv(tmp_path / "sites.csv", lines_of(sites))
    if "model.state" in arguments:
        warm(table, "--ignore", "site", "--ignore", "mode", "--save", "model.state")
    if "other.db" in arguments:
        with fleet.Fleet(PUFEClassifier, store=fleet.SQLiteStore("other.db")) as other:
            other.learn_one({"a": 1.0}, True)
    assert message in warm(table, "--key", "site", "--ignore", "mode", *arguments, code=code)


def test_a_pipe_of_many_keys_says_its_task(sites):
    arguments = [
        "run",
        "-",
        "--target",
        "heat",
        "--ignore",
        "mode",
        "--ignore",
        "warm",
        "--time",
        "day",
        "--key",
        "site",
    ]
    assert "--key on a pipe needs --task" in call(*arguments, input=sites.read_text(), code=2)
    assert "MAE" in call(*arguments, "--task", "regression", input=sites.read_text())


# run: bad lines


def test_a_bad_line_stops_the_run_and_what_was_there_is_saved(jsonl, tmp_path):
    text = jsonl.read_text().splitlines()
    text[100] = '{"old a": "high", "warm": true}'
    jsonl.write_text("\n".join(text))
    model, out = tmp_path / "model.pkl", tmp_path / "out.jsonl"
    output = warm(jsonl, "--save", model, "--predictions", out, code=1)
    assert "line 101: 'old a' is 'high', which is not a number: most values of 'old a' are numbers" in output
    assert len(lines_of(out)) == 100
    assert model.exists()


def test_bad_lines_are_skipped_and_told(jsonl, tmp_path):
    text = jsonl.read_text().splitlines()
    bad = {10: "{", 20: '{"old a": [1]}', 30: '{"old a": Infinity, "warm": true}', 40: '{"old a": 1, "warm": [1]}'}
    for number, line in bad.items():
        text.insert(number, line)
    jsonl.write_text("\n".join(text))
    out = tmp_path / "out.jsonl"
    output = warm(jsonl, "--on-error", "skip", "--predictions", out, code=3)
    for number in bad:
        assert f"line {number + 1}: " in output
    assert "4 bad lines skipped" in output
    clean = tmp_path / "clean"
    warm(write_jsonl(tmp_path / "b.jsonl", samples()), "--predictions", clean)
    assert [line["prediction"] for line in lines_of(out)] == [line["prediction"] for line in lines_of(clean)]


@pytest.mark.parametrize(("task", "target"), [("regression", '"hot"'), ("classification", "[1]")])
def test_a_target_of_the_wrong_kind_is_told(tmp_path, task, target):
    file = tmp_path / "a.jsonl"
    file.write_text(f'{{"x": 1, "y": {target}}}\n')
    output = call("run", file, "--target", "y", "--task", task, code=1)
    assert "line 1: the target 'y' is " in output
    assert ("say --na hot" if task == "regression" else "(see --task)") in output


def test_a_file_without_any_target_is_observed_once_the_task_is_known(tmp_path):
    rows = [{**row, "warm": None, "heat": None} for row in samples()]
    file, out, figure = write_csv(tmp_path / "a.csv", rows), tmp_path / "out.jsonl", tmp_path / "a.png"
    assert "say --task" in warm(file, code=2)
    output = warm(file, "--task", "regression", "--predictions", out, "--figure", figure)
    assert "300 samples" in output
    assert "300 without a target" in output
    assert output.count("retired") == 1
    assert all(line["prediction"] is None for line in lines_of(out))
    assert figure.stat().st_size > 1000


def test_bad_lines_ahead_are_met_in_order(tmp_path):
    rows = [json.dumps({"x": float(i), "y": i % 2}) for i in range(50)]
    rows[30] = "{"
    file, out = tmp_path / "a.jsonl", tmp_path / "out.jsonl"
    file.write_text("\n".join(rows))
    output = call("run", file, "--target", "y", "--predictions", out, code=1)
    assert "line 31: is not JSON" in output
    assert len(lines_of(out)) == 30


def test_only_so_many_messages_are_shown(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("x,y\n1,yes\n" + "1\n" * 300)
    output = call("run", file, "--target", "y", "--on-error", "skip", code=3)
    assert output.count("(skipped)") == 100
    assert "300 bad lines skipped" in output


def test_nothing_but_bad_lines_is_an_error(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("x,y\n1\n2\n")
    assert "No sample was used" in call("run", file, "--target", "y", "--on-error", "skip", code=1)


@pytest.mark.parametrize("text", ["", "x,y\n"])
def test_an_empty_file_has_nothing_to_learn(tmp_path, text):
    file = tmp_path / "a.csv"
    file.write_text(text)
    said = call("run", file, "--target", "y", code=0 if text else 2)
    assert ("No sample was used" if text else "a.csv is empty") in said


def test_a_file_that_breaks_off_saves_what_was_read(csv, tmp_path):
    packed, out = tmp_path / "b.csv.gz", tmp_path / "out.jsonl"
    whole = gzip.compress(csv.read_bytes())
    packed.write_bytes(whole[: len(whole) // 2])
    assert "breaks off after line" in warm(packed, "--predictions", out, code=1)
    assert len(lines_of(out)) > 20


# run: wrong usage


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "cold"], "no column 'cold'; it has day, old a"),
        (["--target", "Warn"], "no column 'Warn': did you mean 'warm'? It has day, old a"),
        (["--target", "warm", "--ignore", "hat"], "no column 'hat'"),
        (["--target", "warm", "--time", "date"], "no column 'date'"),
        (["--target", "warm", "--metric", "Nonsense"], "no metric 'Nonsense'"),
        (["--target", "warm", "--metric", "base"], "no metric 'base'"),
        (["--target", "warm", "--metric", "FBeta"], "FBeta is a table, or has parameters of its own"),
        (["--target", "warm", "--metric", "ConfusionMatrix"], "ConfusionMatrix is a table"),
        (["--target", "warm", "--metric", "MAE"], "MAE is not made for classification"),
        (["--target", "warm", "--figure", "a.doc"], "is not a name for a figure"),
        (["--target", "warm", "--save", "nowhere/model.pkl"], "no such directory"),
        (["--target", "warm", "--predictions", "."], "is a directory"),
        (["--target", "warm", "--task", "clustering"], "clustering"),
        ([], "--target"),
    ],
)
def test_misuse_is_told(csv, arguments, message):
    assert message in " ".join(call("run", csv, *arguments, code=2).split())


def test_the_file_that_is_read_is_not_written(csv):
    before = csv.read_bytes()
    for option in ("--predictions", "--save"):
        assert "is the file that is read" in warm(csv, option, csv, code=2).replace("\n", "")
    assert csv.read_bytes() == before


def test_a_target_that_json_lines_do_not_have_is_told(jsonl):
    output = call("run", jsonl, "--target", "cold", code=2)
    assert "no value of 'cold' in the first 300 lines; it has day, old a" in output


@pytest.mark.parametrize("command", [[], ["run"], ["spaces"], ["compare"], ["demo"]])
def test_every_command_helps(command):
    output = call(*command, "--help")
    assert "Usage: " in output
    assert len(output.splitlines()) > 10
    # An option that takes no value is not shown with one; --help is not ours.
    assert output.count("<bool>") <= 1


def test_version():
    kind = "compiled" if river_pufe.compiled else "plain Python"
    assert call("--version") == f"river-pufe {river_pufe.__version__} ({kind})\n"


def test_no_such_file():
    for command in (["run", "nowhere.csv", "--target", "y"], ["spaces", "nowhere.csv"]):
        assert "nowhere.csv" in call(*command, code=2)


def test_warnings_are_told_as_sentences(tmp_path):
    file = write_jsonl(tmp_path / "a.jsonl", ({"x": 1.0, f"id {t}": 1.0, "y": t % 2} for t in range(1000)))
    output = call("run", file, "--target", "y")
    assert output.count("keys were seen once or twice and never again") == 1
    assert "UserWarning" not in output


# spaces


@pytest.mark.parametrize(
    ("text", "arguments", "code", "message"),
    [
        ("", [], 2, "a.csv is empty"),
        ("x,y\n", [], 0, "0 samples"),
        ("x,y\n1,2\n", ["--time", "t"], 2, "no column 't'; it has x, y"),
        ("x,y\n1,2\n", ["--ignore", "x", "--ignore", "z"], 2, "no column 'z'"),
    ],
)
def test_spaces_of_a_file_that_does_not_have_what_is_asked(tmp_path, text, arguments, code, message):
    file = tmp_path / "a.csv"
    file.write_text(text)
    output = call("spaces", file, *arguments, code=code)
    assert message in output
    assert "Keys" not in output


def test_spaces_shows_when_each_key_was_alive(jsonl, tmp_path):
    figure = tmp_path / "a.svg"
    output = call(
        "spaces",
        jsonl,
        "--time",
        "day",
        "--ignore",
        "warm",
        "--ignore",
        "heat",
        "--figure",
        figure,
        env={"COLUMNS": "120"},
    )
    (row,) = [line for line in output.splitlines() if line.strip().startswith("old a")]
    strip, *rest = re.split(r"\s\s+", row.partition("old a")[2].strip())
    assert strip.rstrip("█▁▂▃▄▅▆▇") == ""
    assert rest == ["day 0", "day 159", "53%", "vanished"]
    assert output.count("retired") == output.count("current") == 1
    assert "<svg" in figure.read_text()


def test_spaces_needs_no_numbers_and_no_target(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("name,color\nx,red\ny,\nz,blue\n")
    output = call("spaces", file)
    assert "67%" in output
    assert "3 samples" in output


def test_spaces_lists_as_many_keys_as_asked_for(tmp_path):
    file = write_jsonl(tmp_path / "a.jsonl", [{f"k{i}": 1 for i in range(60)}])
    assert "… and 20 more" in call("spaces", file)
    assert "… and 55 more" in call("spaces", file, "--keys", 5)


def test_spaces_and_bad_lines(tmp_path):
    file = write_jsonl(tmp_path / "a.jsonl", [{"x": 1}, [1], {"x": 2}])
    assert "line 2: is a list" in call("spaces", file, code=1)
    assert "2 samples; 1 bad line" in call("spaces", file, "--on-error", "skip", code=3)


# compare


def test_compare_prints_and_saves_the_table(tmp_path):
    rows = [{**x_of(row), "warm": "yes" if row["warm"] else "no"} for row in samples(120) if row["heat"] is not None]
    file = write_csv(tmp_path / "mine.csv", rows)
    out = tmp_path / "results"
    output = call("compare", "--csv", file, "--target", "warm", "--runs", 2, "--overlap", 10, "--out", out)
    assert "| mine-U |" in output
    assert "PUFE" in output
    assert "mine-P" in (out / "table.md").read_text()
    assert {path.name for path in out.iterdir()} == {"table.md", "table.csv", "table.tex", "trend.png"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "Fishing"], "no such data set"),
        (["--csv", "a.csv"], "--target"),
        (["--runs", "0"], "--runs"),
        (["--csv", "a.csv", "--target", "y"], "a.csv"),
    ],
)
def test_compare_misused(arguments, message):
    assert message in call("compare", *arguments, code=2)


# In a process of its own: pipes, signals, what is not installed.


def spawn(*arguments, **kwargs):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([*COMMAND, *map(str, arguments)], env=ENVIRONMENT, text=True, **{**pipes, **kwargs})


def wait_for(condition, seconds=300):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.05)


PIPED = ("run", "-", "--target", "warm", "--ignore", "heat", "--time", "day")


def test_predictions_leave_a_pipe_as_samples_enter(jsonl):
    process = spawn(*PIPED, "--predictions", "-")
    for line in jsonl.read_text().splitlines()[:5]:
        process.stdin.write(line + "\n")
        process.stdin.flush()
        assert "prediction" in json.loads(process.stdout.readline())
    rest, told = process.communicate(timeout=300)
    assert rest == ""
    assert process.returncode == 0
    assert "Accuracy" in told


def test_a_pipe_that_nobody_reads_ends_the_run(jsonl, tmp_path):
    model = tmp_path / "model.pkl"
    process = spawn(*PIPED, "--predictions", "-", "--save", model)
    process.stdin.write(jsonl.read_text().splitlines()[0] + "\n")
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    _, told = process.communicate(jsonl.read_text(), timeout=300)
    assert process.returncode == 1
    assert "Nobody reads the predictions any more." in told
    assert "Traceback" not in told
    assert model.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_saves_what_there_is(jsonl, tmp_path, number):
    out, model, figure = tmp_path / "out.jsonl", tmp_path / "model.pkl", tmp_path / "a.png"
    process = spawn(*PIPED, "--predictions", out, "--save", model, "--figure", figure)
    process.stdin.write(jsonl.read_text())
    process.stdin.flush()
    # The pipe stays open, as that of a sensor would.
    wait_for(lambda: out.exists() and out.read_text().count("\n") == 300)
    process.send_signal(number)
    said, told = process.communicate(timeout=300)
    assert process.returncode == 128 + number
    assert "Interrupted after line 300." in told
    assert "Accuracy" in said
    assert figure.stat().st_size > 1000
    whole = tmp_path / "whole.pkl"
    warm(jsonl, "--save", whole)
    x = {"new a": 70.0, "new b": 0.5}
    assert pickle.loads(model.read_bytes()).predict_proba_one(x) == pickle.loads(whole.read_bytes()).predict_proba_one(
        x
    )


def test_a_signal_in_the_middle_of_much_work_leaves_a_whole_model(tmp_path):
    out, model = tmp_path / "out.jsonl", tmp_path / "model.pkl"
    file = write_jsonl(tmp_path / "a.jsonl", samples(20_000))
    process = spawn("run", file, *PIPED[2:], "--predictions", out, "--save", model)
    wait_for(lambda: out.exists() and out.read_text().count("\n") > 200)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode == 130
    n = len(lines_of(out))
    assert 200 < n < 20_000
    expected = PUFEClassifier()
    for _, row in zip(range(n), samples(20_000)):
        expected.observe_one(x_of(row)) if row["warm"] is None else expected.learn_one(x_of(row), row["warm"])
    x = x_of(next(samples(1, seed=5)))
    assert pickle.loads(model.read_bytes()).predict_proba_one(x) == expected.predict_proba_one(x)


def catches_signals(process):
    """Whether a process has handlers of its own: Python by itself does not catch SIGTERM."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    caught = int(status.partition("SigCgt:")[2].split()[0], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


needs_proc = pytest.mark.skipif(not pathlib.Path("/proc/self/status").exists(), reason="asks the kernel by /proc")


@needs_proc
def test_a_signal_before_anything_was_read():
    process = spawn(*PIPED)
    wait_for(lambda: catches_signals(process))
    process.send_signal(signal.SIGINT)
    said, told = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "No sample was used" in said
    assert "Traceback" not in told


@needs_proc
def test_a_signal_while_keys_are_read():
    process = spawn("spaces", "-")
    process.stdin.write('{"x": 1}\n' * 300)
    process.stdin.flush()
    wait_for(lambda: catches_signals(process))
    process.send_signal(signal.SIGINT)
    said, told = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Interrupted." in told
    assert int(said.split(" samples")[0].split()[-1]) <= 300


@needs_proc
def test_a_signal_leaves_no_half_comparison(tmp_path):
    out = tmp_path / "results"
    process = spawn("compare", "--data", "Phishing", "--out", out)
    wait_for(lambda: catches_signals(process))
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "nothing is saved" in told
    assert not out.exists()


def test_named_pipes_are_files(jsonl, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = spawn("spaces", pipe)
    pipe.write_text(jsonl.read_text())
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "300 samples" in said


def without(*modules, command):
    code = f"import sys; sys.modules.update(dict.fromkeys({modules!r})); from river_pufe.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *command], env=ENVIRONMENT, capture_output=True, text=True)


@pytest.mark.parametrize("module", ["typer", "rich"])
def test_a_missing_command_line_is_told_in_one_line(module):
    done = without(module, command=["--help"])
    assert done.returncode == 1
    assert done.stderr.strip().splitlines() == [
        f'The command line needs {module}, which is not installed: pip install "river-pufe[cli]"'
    ]


def test_missing_pictures_are_told_before_any_work(jsonl, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    file = ["--figure", "a.png"]
    for command in (
        ["demo"],
        ["run", jsonl, "--target", "warm", *file],
        ["spaces", jsonl, *file],
        ["compare", "--out", "a"],
    ):
        said = call(*command, code=2)
        assert said.strip().endswith('pip install "river-pufe[demo]"')
        assert len(said.splitlines()) == 1


def test_pictures_are_not_needed_for_numbers(jsonl, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "300 samples" in call("spaces", jsonl)


def test_any_character_on_any_terminal(tmp_path):
    file = write_jsonl(tmp_path / "a.jsonl", [{"温度": 1.0, "[bold]": 2.0, "é": None, "y": "ja\u2028"}] * 30)
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "ascii"}
    command = [*COMMAND, "run", str(file), "--target", "y"]
    assert "[bold]" in subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


# Parts


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("before")

    def interrupted():
        with show.replacing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "before"
    with show.replacing(path) as file:
        file.write(b"after")
    assert path.read_text() == "after"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    with pytest.raises(show.RunError, match="cannot be written"), show.replacing(tmp_path / "no" / "a"):
        pass


def test_strips_are_as_high_as_keys_are_often_there():
    blocks = "▁▂▃▄▅▆▇█"
    assert [show._block(share, blocks) for share in (0.0, 1e-9, 0.5, 0.99, 1.0)] == [" ", "▁", "▄", "█", "█"]


def test_names_of_labels_in_predictions(tmp_path):
    rows = [{"x": float(i % 2), "y": (i % 2) + 1} for i in range(100)]
    out = tmp_path / "out.jsonl"
    call("run", write_jsonl(tmp_path / "a.jsonl", rows), "--target", "y", "--predictions", out)
    last = lines_of(out)[-1]
    assert last["probabilities"].keys() == {"1", "2"}
    assert math.fsum(last["probabilities"].values()) == pytest.approx(1)
    assert collections.Counter(line["prediction"] for line in lines_of(out)).keys() == {None, 1, 2}


def test_the_module_and_the_script_are_the_same():
    script = pathlib.Path(sys.executable).with_name("river-pufe")
    assert call("--version") == subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout


# Outputs that cannot take what is written.


def test_a_reader_that_goes_early_costs_nothing(jsonl, tmp_path):
    model = tmp_path / "model.state"
    process = spawn("run", jsonl, "--target", "warm", "--ignore", "heat", "--time", "day", "--save", model)
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    _, told = process.communicate(timeout=300)
    assert (process.returncode, told) == (0, "")
    assert model.exists()


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("predictions", [[], ["--predictions", "-"]])
def test_a_full_output_is_told_and_what_was_learned_is_saved(jsonl, tmp_path, predictions):
    model = tmp_path / "model.state"
    arguments = ["run", jsonl, "--target", "warm", "--ignore", "heat", "--time", "day", "--save", model, *predictions]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, text=True
        )
    assert done.returncode == 1
    assert done.stderr.count("Standard output cannot be written: No space left on device") == 1
    assert "Traceback" not in done.stderr
    assert model.exists()


@pytest.mark.parametrize("name", ["-", "out.jsonl", "out.csv"])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_any_label_can_be_predicted(tmp_path, monkeypatch, name, encoding):
    monkeypatch.chdir(tmp_path)
    rows = [{"a": t, "y": ("\ud800", "é")[t % 2]} for t in range(8)]
    write_jsonl(tmp_path / "a.jsonl", rows)
    done = subprocess.run(
        [*COMMAND, "run", "a.jsonl", "--target", "y", "--predictions", name, "--on-error", "skip"],
        env={**ENVIRONMENT, "PYTHONIOENCODING": encoding},
        capture_output=True,
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    if name != "out.csv":
        text = done.stdout if name == "-" else (tmp_path / name).read_bytes()
        assert [json.loads(line)["target"] for line in text.splitlines()] == [row["y"] for row in rows]


# Files that are no place for a model.


@pytest.mark.parametrize("option", ["--predictions", "--events", "--figure", "--report"])
def test_no_file_is_written_twice(jsonl, tmp_path, option):
    path = tmp_path / "out.png"
    link = tmp_path / "link.png"
    link.symlink_to(path)
    assert "are the same file" in warm(jsonl, option, path, "--save", link, code=2)
    assert not path.exists()


def test_a_named_pipe_is_not_replaced_by_a_model(jsonl, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "it is not a regular file" in warm(jsonl, "--save", pipe, code=2)
    assert pipe.is_fifo()
    with pytest.raises(OSError, match="not a regular file"):
        saving.write(pipe, "content")


def test_a_link_leads_to_the_model(jsonl, tmp_path):
    link, target = tmp_path / "link.state", tmp_path / "target.state"
    link.symlink_to(target)
    warm(jsonl, "--save", link)
    assert link.is_symlink()
    assert target.is_file()
    warm(jsonl, "--load", target)


# Models of other versions.


def other_layouts():
    model = taught(PUFEClassifier(), [({"a": 1.0}, True)])
    del model._recovery._spaces._settles_at
    yield pickle.dumps(model)
    model = taught(PUFEClassifier(), [({"a": 1.0}, True)])
    del model._experts
    yield pickle.dumps(model)
    yield b"criver_pufe.rules\nRule\n."
    yield b"criver_pufe.pufe\nNoSuchClassifier\n."


@pytest.mark.parametrize("content", list(other_layouts()), ids=["inside", "outside", "module", "class"])
def test_a_pickle_of_another_version_is_told_in_one_sentence(jsonl, tmp_path, content):
    model = tmp_path / "model.pkl"
    model.write_bytes(content)
    told = " ".join(warm(jsonl, "--load", model, code=1).split())
    assert "was saved by another version of river_pufe or of River, or is damaged: install that version" in told
    assert "line 1" not in told


def test_a_long_value_is_not_shown_whole(tmp_path):
    file = write_jsonl(tmp_path / "a.jsonl", [{"a": t, "y": t % 2} for t in range(9)] + [{"a": "x" * 10**6, "y": 1}])
    assert len(call("run", file, "--target", "y", code=1)) < 2000


@pytest.mark.parametrize("command", [["run", "--target", "y"], ["run", "--target", "y", "--time", "t"], ["spaces"]])
def test_values_that_json_knows_and_floats_do_not_are_no_end(tmp_path, command):
    huge, rows = 10**400, [{"x": 1, "y": 1}] * 3
    for key, value in (("x", huge), ("y", -huge), ("t", huge), ("x", [huge])):
        path = tmp_path / "a.jsonl"
        path.write_text("".join(json.dumps({**row, key: value}) + "\n" for row in rows))
        result = CliRunner().invoke(app, [command[0], str(path), *command[1:]])
        assert result.exception is None or isinstance(result.exception, SystemExit)
