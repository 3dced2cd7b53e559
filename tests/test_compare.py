"""Is the comparison fair, repeatable, and told as it is?"""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import math
import os
import pathlib
import sys

import numpy as np
import pytest
from scipy import stats

sys.path.append(str(pathlib.Path(__file__).parent / "benchmarks"))

import printed
import readings

from river_pufe import PUFEClassifier, baselines, compare, saving, tasks
from river_pufe.compare import experiment, table
from river_pufe.compare.figures import average_cumulative


def make_fesl(path: pathlib.Path, n: int = 60, seed: int = 0) -> pathlib.Path:
    rng = np.random.default_rng(seed)
    previous = rng.uniform(size=(n, 4))
    current = previous @ rng.normal(size=(4, 3))
    labels = np.where(previous @ rng.normal(size=4) > 0, 1, -1)
    labels[: n // 4] *= -1
    orders = np.array([rng.permutation(n) + 1 for _ in range(10)]).T
    names = [f"X1_f{i}" for i in range(4)] + [f"X2_f{i}" for i in range(3)] + ["label"]
    names += [f"perm_{i}" for i in range(1, 11)]
    rows = np.column_stack([previous, current, labels, orders])
    path.write_text("\n".join([",".join(names), *(",".join(f"{value:.17g}" for value in row) for row in rows)]))
    return path


@pytest.fixture
def fesl(tmp_path):
    return compare.load(make_fesl(tmp_path / "tiny.csv"))


@pytest.fixture
def weather(tmp_path):
    """Writes a csv, with a target made of the number of the row."""

    def write(target):
        path = tmp_path / "weather.csv"
        lines = [f"{t * 7 % 10},{'north' if t % 3 else 'south'},{target(t)}" for t in range(40)]
        path.write_text("\n".join(["heat,wind,y", *lines]))
        return path

    return write


def handmade(scores, regression=False, c=1.0):
    """A comparison in which methods fared as given."""
    played = {
        (setting, method, value): experiment.Played(np.array(runs), np.ones((len(runs), 5)))
        for (setting, method, value), runs in scores.items()
    }
    data = compare.data.Table("made up", regression, 0 if regression else 2, False, "nowhere")
    methods = {key[1]: compare.METHODS[key[1]] for key in scores}
    settings = tuple(dict.fromkeys(key[0] for key in scores))
    return compare.Comparison(data, 20, 0, settings, methods, c, played)


# What is compared on.


@pytest.mark.parametrize("name", compare.BUNDLED)
def test_bundled_data_sets_have_numbers_for_features(name):
    data = compare.load(name)
    rounds = list(itertools.islice(data.stream(1, 20, True), 5))
    assert all(isinstance(value, int | float) for x, _ in rounds for value in x.values())
    assert data.regression == (data.n_classes == 0)
    assert all(isinstance(y, float | int if data.regression else bool | str) for _, y in rounds)


@pytest.mark.parametrize("source", ["tiny", "Phishing"])
@pytest.mark.parametrize("unpredictable", [False, True])
def test_streams_are_repeatable_and_runs_differ(source, unpredictable, fesl):
    data = fesl if source == "tiny" else compare.load(source)
    first, again, second = (list(data.stream(run, 8, unpredictable)) for run in (1, 1, 2))
    assert first == again
    assert first != second
    assert first != list(data.stream(1, 8, unpredictable, seed=5)) or not unpredictable
    change = data.stream(1, 8, unpredictable).changes[-1]
    current = set(first[-1][0])
    assert all(set(x) == current for x, _ in first[change:])
    intact = [len(x) == len(first[0][0]) + len(current) for x, _ in first[change - 8 : change]]
    assert all(intact) != unpredictable


def test_tables_are_told_apart_by_their_target(weather):
    two = compare.load(weather(lambda t: "yes" if t % 2 else "no"), "y")
    assert (two.regression, two.n_classes) == (False, 2)
    assert {y for _, y in two.stream(1, 5, True)} == {False, True}
    three = compare.load(weather(lambda t: "abc"[t % 3]), "y")
    assert (three.regression, three.n_classes) == (False, 3)
    number = compare.load(weather(lambda t: t / 2), "y")
    assert (number.regression, number.n_classes) == (True, 0)
    classes = compare.load(weather(lambda t: t / 2), "y", regression=False)
    assert classes.n_classes == 40


def test_strings_become_numbers(weather):
    x, _ = next(iter(compare.load(weather(lambda t: t % 2), "y").stream(1, 5, True)))
    assert set(x) == {"heat", "wind=north", "wind=south"}
    assert x["wind=north"] + x["wind=south"] == 1


@pytest.mark.parametrize(
    ("target", "named", "message"),
    [
        (lambda t: t % 2, None, "must be named"),
        (lambda t: t % 2, "z", "no row .* has a target 'z'"),
        (lambda t: "same", "y", "'same' in all rows"),
    ],
)
def test_targets_that_are_not_valid(weather, target, named, message):
    with pytest.raises(ValueError, match=message):
        compare.load(weather(target), named)


def test_strings_are_not_numbers(weather):
    with pytest.raises(ValueError, match="not a number in all rows"):
        compare.load(weather(lambda t: "ab"[t % 2]), "y", regression=True)


def test_a_data_set_that_is_not_there():
    with pytest.raises(ValueError, match="Phishing"):
        compare.load("Fishing")


# How it is played.


def test_figures_do_not_depend_on_the_number_of_jobs(fesl):
    games = {"methods": ["NOGD", "FESL-s", "PUFE (paper)"], "overlap": 8, "runs": 2}
    calls = []
    alone = compare.run(fesl, **games, progress=lambda *args: calls.append(args))
    together = compare.run(fesl, **games, jobs=2)
    assert compare.to_csv([alone]) == compare.to_csv([together])
    # FESL does not play the unpredictable setting.
    assert calls == [(done, 10) for done in range(1, 11)]


@pytest.mark.parametrize("data", ["Phishing", "ImageSegments", "ChickWeights"])
def test_scores_are_those_of_predict_one(data):
    data = compare.load(data)
    stream = data.stream(1, 20, True)
    rounds = list(itertools.islice(stream, stream.changes[-1] + 30))
    for name, method in compare.METHODS.items():
        if not (data.regression or method.is_base or "River" in name):
            continue
        if not method.can_play(data, unpredictable=True):
            continue
        model = method.make(data, c=1.0, horizon=30, seed=1)
        judge = experiment._number if data.regression else experiment._label
        for t, (x, y) in enumerate(rounds):
            if t >= stream.changes[-1]:
                guess = model.predict_one(x)
                expected = (guess - y) ** 2 if data.regression else float(guess == y)
                assert judge(model, x, y)[0] == pytest.approx(expected)
            model.learn_one(x, y)


def test_features_are_standardized_where_they_are_not_scaled(fesl):
    raw = dataclasses.replace(fesl, scaled=False)
    assert raw.stream(1, 8, True).seed == fesl.stream(1, 8, True).seed
    for name, method in compare.METHODS.items():
        assert ("StandardScaler" in repr(method.make(raw, 1.0, 30, 1))) == (name != "PUFE")
        assert "StandardScaler" not in repr(method.make(fesl, 1.0, 30, 1))


def test_the_grid_takes_the_best_and_holds_what_is_not_tuned(fesl):
    games = {"methods": ["NOGD", "ROGD-f", "PUFE"], "settings": "U", "overlap": 8, "runs": 2}
    searched, plain = compare.run(fesl, **games, grid=True), compare.run(fesl, **games)
    for method in ("NOGD", "ROGD-f"):
        c, best = searched.best("U", method)
        means = {c: searched.fixed(c).best("U", method)[1].scores.mean() for c in compare.C_GRID}
        assert best.scores.mean() == means[c] == max(means.values())
    assert searched.best("U", "PUFE")[0] is None
    assert compare.to_csv([searched.fixed(1.0)]) == compare.to_csv([plain])
    assert "is best on these very rounds" in compare.to_markdown([searched])
    assert "Nothing is tuned: c = 1 for all" in compare.to_markdown([plain])


def test_nonsense_is_named(fesl):
    for message, arguments in {
        "no method 'NODG'": {"methods": ["NODG"]},
        "no setting 'X'": {"settings": "X"},
        "nothing to play": {"methods": []},
        "from 1 to 10, not 11": {"runs": 11},
        "jobs is": {"jobs": 0},
        "overlap": {"overlap": 40},
    }.items():
        with pytest.raises(ValueError, match=message):
            compare.run(fesl, **arguments)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_stops_all(fesl, jobs):
    def progress(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare.run(fesl, ["NOGD"], overlap=8, runs=4, jobs=jobs, progress=progress)


@pytest.mark.parametrize("answer", [1e200, -math.inf, math.nan])
def test_answers_out_of_this_world_are_as_bad_as_can_be(answer):
    class Lost:
        def predict_one(self, x):
            return answer

        def predict_proba_one(self, x):
            return {True: math.nan, False: 0.0}

    assert experiment._number(Lost(), {}, 1.0) == (1e300, 1e300)
    assert experiment._label(Lost(), {}, False)[1] == experiment._label(Lost(), {}, True)[1] == -math.log(1e-15)


def test_models_that_leave_the_data_are_an_outcome():
    data = compare.load("ChickWeights")
    played = compare.run(data, ["NOGD"], "U", runs=1, grid=True)
    assert all(np.isfinite(outcome.losses).all() for outcome in played.played.values())


# How it is told.


def test_best_is_bold_and_best_base_model_dotted():
    scores = {
        ("P", "NOGD", 1.0): [0.70, 0.72],
        ("P", "ROGD-f", 1.0): [0.80, 0.81],
        ("P", "ROGD-u", 1.0): [0.60, 0.61],
        ("P", "FESL-c", 1.0): [0.90, 0.91],
        ("P", "PUFE", None): [0.90001, 0.90999],
        ("U", "NOGD", 1.0): [0.75, 0.75],
    }
    _, _, predictable, unpredictable, *_ = compare.to_markdown([handmade(scores)]).splitlines()
    assert predictable.split(" | ")[1:] == [
        ".7100 ± .0141",
        ".8050 ± .0071•",
        ".6050 ± .0071",
        "**.9050 ± .0071**",
        "**.9050 ± .0071** |",
    ]
    assert unpredictable == "| made up-U | **.7500 ± .0000**• | — | — | — | — |"


def test_small_errors_are_good():
    scores = {("U", "NOGD", 1.0): [4.0, 6.0], ("U", "ROGD-u", 1.0): [40.0, 60.0], ("U", "PUFE", None): [1e9, math.inf]}
    line = compare.to_markdown([handmade(scores, regression=True)]).splitlines()[2]
    assert line.startswith("| made up-U | **5.000 ± 1.414**• | 50.00 ± 14.14 | diverged |")


@pytest.mark.parametrize(
    ("mean", "expected"), [(1.0, "1.0000"), (0.99999, "1.0000"), (0.5, ".5000"), (0.0, ".0000"), (0.12345, ".1235")]
)
def test_accuracies_have_four_digits(mean, expected):
    assert table.mean_and_std(np.array([mean, mean]), False) == (expected, ".0000")


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("better", [1, -1])
def test_the_t_test_is_paired(regression, better):
    rng = np.random.default_rng(1)
    base = rng.uniform(0.4, 0.9, size=10)
    tested = base + better * (0.01 + 0.002 * rng.normal(size=10))
    scores = {("U", "NOGD", 1.0): base, ("U", "ROGD-u", 1.0): base - 0.3, ("U", "PUFE (paper)", 1.0): tested}
    if regression:
        scores["U", "ROGD-u", 1.0] = base + 0.3
    (row,) = table.rows([handmade(scores, regression)])
    assert row.base == "NOGD"
    assert row.p == pytest.approx(stats.ttest_rel(tested, base).pvalue)
    # Unpaired, the same figures tell nothing.
    assert stats.ttest_ind(tested, base).pvalue > 0.5 > 0.05 > row.p
    assert row.verdict == ("+" if (better > 0) != regression else "-")


@pytest.mark.parametrize(
    ("gain", "verdict"), [([0, 0, 0], "="), ([0.1, 0.1, 0.1], "+"), ([0.1, -0.1, 0.02], "="), ([0.1], "")]
)
def test_verdicts_of_few_runs(gain, verdict):
    base = np.full(len(gain), 0.5)
    scores = {("P", "NOGD", 1.0): base, ("P", "PUFE (paper)", 1.0): base + gain}
    (row,) = table.rows([handmade(scores)])
    assert row.verdict == verdict
    assert ("t-test" in compare.to_markdown([handmade(scores)])) == bool(verdict)


def test_csv_has_the_figures_in_full():
    runs = [0.1 + 0.2, 1 / 3, 0.7]
    scores = {("U", "NOGD", 0.1): runs, ("U", "PUFE (paper)", 0.1): [0.5, 0.6, 0.1], ("U", "PUFE", None): runs}
    nogd, paper, pufe = csv.DictReader(io.StringIO(compare.to_csv([handmade(scores, c=0.1)])))
    assert float(nogd["mean"]) == np.mean(runs)
    assert float(nogd["std"]) == np.std(runs, ddof=1)
    assert (nogd["c"], pufe["c"], nogd["base"], pufe["base"]) == ("0.1", "", "best", "")
    assert float(paper["p"]) == stats.ttest_rel([0.5, 0.6, 0.1], runs).pvalue


def test_saving_writes_table_and_figure(fesl, tmp_path):
    comparison = compare.run(fesl, overlap=8, runs=2)
    paths = compare.save([comparison], tmp_path / "new" / "results")
    assert {path.name for path in (tmp_path / "new" / "results").iterdir()} == {path.name for path in paths}
    assert (tmp_path / "new" / "results" / "table.md").read_text().startswith(compare.to_markdown([comparison]))
    first = paths[-1].read_bytes()
    assert first.startswith(b"\x89PNG")
    assert compare.trend([comparison], paths[-1]).read_bytes() == first


def test_methods_of_ones_own_stand_beside_the_others(fesl, tmp_path):
    mine = compare.Method((baselines.NOGDClassifier, baselines.NOGDRegressor))
    methods = {"mine": mine, "NOGD": compare.METHODS["NOGD"], "PUFE": compare.METHODS["PUFE"]}
    for jobs in (1, 2):
        comparison = compare.run(fesl, methods, "U", overlap=8, runs=2, jobs=jobs)
        mine_played, nogd = (comparison.best("U", name)[1] for name in ("mine", "NOGD"))
        assert mine_played.scores.tolist() == nogd.scores.tolist()
    assert compare.to_markdown([comparison]).startswith("|  | mine | NOGD | PUFE |")
    assert compare.trend([comparison], tmp_path / "a.png").exists()


def test_every_method_is_tested_against_the_best():
    runs = np.array([0.5, 0.6, 0.55])
    scores = {
        ("U", "NOGD", 1.0): runs,
        ("U", "ROGD-f", 1.0): runs - 0.1,
        ("U", "PUFE", None): runs + np.array([0.1, 0.12, 0.09]),
    }
    (row,) = table.rows([handmade(scores)])
    assert row.top == "PUFE"
    for name in ("NOGD", "ROGD-f"):
        assert row.against_top[name] == pytest.approx(
            stats.ttest_rel(scores["U", "PUFE", None], scores["U", name, 1.0]).pvalue
        )
    assert f"| made up-U | {row.against_top['NOGD']:.2g} |" in compare.significance([handmade(scores)])
    single = handmade({key: values[:1] for key, values in scores.items()})
    assert compare.significance([single]) == ""
    assert "of 1 run." in compare.to_markdown([single])


def test_what_has_diverged_is_not_printed_with_digits():
    scores = {("U", "NOGD", 1.0): [1e24, 1e30], ("U", "PUFE", None): [1.0, 2.0]}
    found = compare.to_markdown([handmade(scores, regression=True)])
    assert "diverged•" in found
    assert "try --grid" in found
    assert "e+" not in found


def test_latex():
    scores = {("U", "ROGD-f", 1.0): [0.7, 0.72], ("U", "PUFE", None): [0.8, 0.82]}
    lines = compare.to_latex([handmade(scores)]).splitlines()
    assert lines[0].startswith("% Accuracy")
    assert lines[1:] == [
        r"\begin{tabular}{lcc}",
        r"\toprule",
        r" & ROGD-f & PUFE \\",
        r"\midrule",
        r"made up-U & .7100 $\pm$ .0141$^\bullet$ & \textbf{.8100 $\pm$ .0141} \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_columns_can_be_ignored(weather):
    data = compare.load(weather(lambda t: t % 2), "y", ignore=["wind"])
    assert set(next(iter(data.stream(1, 5, True)))[0]) == {"heat"}


def test_trend_of_a_setting_that_was_not_played(fesl, tmp_path):
    comparison = compare.run(fesl, ["NOGD"], "U", overlap=8, runs=1)
    with pytest.raises(ValueError, match="nothing to draw"):
        compare.trend([comparison], tmp_path / "a.png", "P")
    assert list(tmp_path.glob("*.png")) == []


def test_average_cumulative_loss():
    np.testing.assert_allclose(average_cumulative(np.array([[2.0, 4.0, 0.0]])), [[2.0, 3.0, 2.0]])


def test_every_method_has_a_look_of_its_own():
    looks = [compare.figures._LOOK[method] for method in compare.METHODS]
    assert len({look[1:] for look in looks}) == len(compare.METHODS)


def test_an_interrupt_leaves_the_old_file(tmp_path, monkeypatch):
    path = saving.write(tmp_path / "a.md", "old")

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        saving.write(path, "new")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


# Theorem 2.


def test_regret_is_the_difference_of_losses(fesl):
    """With an intact overlap the base models of PUFE are NOGD and ROGD-u."""
    stream = fesl.stream(1, 8, unpredictable=False)
    models = [PUFEClassifier.paper(), baselines.ROGDClassifier(), baselines.NOGDClassifier()]
    losses = []
    for t, (x, y) in enumerate(stream):
        if t >= stream.changes[-1]:
            # The round in which the change is noticed is predicted before and learned after it.
            losses.append([min(-math.log(model.predict_proba_one(x)[y]), 1.0) for model in models])
        for model in models:
            model.learn_one(x, y)
    losses = np.array(losses)
    result = compare.regret(stream)
    np.testing.assert_allclose(result.regrets, np.cumsum(losses[:, :1] - losses[:, 1:], axis=0), atol=1e-9)
    S = np.abs(losses[:, :1] - losses[:, 1:]).sum(0)
    B = 1 + 3 / 2 * np.mean(1 + np.log(1 + S))
    bound = np.sqrt(3 * S * (math.log(2) + np.log(B) + math.log(1 + math.log(2))))
    np.testing.assert_allclose(result.bounds[-1], bound)
    best, limit = result.against_best()
    assert best[-1] == result.regrets[-1].max()
    assert limit[-1] == result.bounds[-1][result.regrets[-1].argmax()]
    assert result.holds == bool((result.regrets <= result.bounds).all())


def test_regret_figure(fesl, tmp_path):
    results = {f"run {run}": compare.regret(fesl.stream(run, 8, True)) for run in (1, 2, 3)}
    assert compare.regret_figure(results, tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


# Other readings of the paper.


def test_uncut_margins_are_cut_margins_that_may_exceed_one():
    cut, uncut = tasks.MarginClassification(), readings.UncutMargins()
    for task in (cut, uncut):
        for label in "abc":
            task.register(label)
    margins = np.random.default_rng(0).normal(scale=3, size=(50, 2))
    losses = uncut.losses(margins, uncut.target("b"))
    assert losses.max() > 1
    np.testing.assert_allclose(np.minimum(losses, 1), cut.losses(margins, cut.target("b")))


def test_discarding_rows_makes_no_difference_in_an_intact_overlap(fesl):
    # With an intact overlap no row can be discarded.
    methods = {name: (compare.METHODS | readings.READINGS)[name] for name in ("PUFE (paper)", "PUFE (all rows)")}
    comparison = compare.run(fesl, methods, "P", overlap=8, runs=1)
    both = [comparison.best("P", method)[1].losses for method in comparison.methods]
    np.testing.assert_allclose(*both, atol=1e-9)


def test_rivals_are_played_only_when_asked_for(fesl):
    rivals = [name for name, method in compare.METHODS.items() if method.is_rival]
    assert not set(rivals) & set(compare.run(fesl, overlap=8, runs=1).methods)
    with pytest.warns(UserWarning, match="needs features that survive"):
        text = compare.to_markdown([compare.run(fesl, ["NOGD", *rivals], overlap=8, runs=1)])
    predictable, unpredictable = (line for line in text.splitlines() if line.startswith("| tiny"))
    # SF2EL needs an intact overlap.
    assert predictable.count("—") == 0
    assert unpredictable.count("—") == 1


def test_classifiers_alone_do_not_play_for_numbers():
    data = compare.load("TrumpApproval")
    comparison = compare.run(data, ["NOGD", "OLSF"], "P", runs=1)
    assert "| — |" in compare.to_markdown([comparison])
    with pytest.raises(ValueError, match="nothing to play: OLSF, OCDS cannot play TrumpApproval"):
        compare.run(data, ["OLSF", "OCDS"], runs=1)


# The page.


def test_filling_keeps_the_text(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("# Title\n\nWritten by hand.\n\n<!-- begin a -->\nold\n<!-- end a -->\n\nMore.\n")
    for _ in range(2):
        printed.fill(path, {"a": "new \\1\n", "b": "appended\n"})
        assert path.read_text() == (
            "# Title\n\nWritten by hand.\n\n<!-- begin a -->\n\nnew \\1\n\n<!-- end a -->\n\nMore.\n"
            "\n<!-- begin b -->\n\nappended\n\n<!-- end b -->\n"
        )


def test_page(tmp_path, monkeypatch):
    (tmp_path / "fesl").mkdir()
    path = make_fesl(tmp_path / "fesl" / "australian.csv")
    monkeypatch.setattr(printed, "BUNDLED", (str(path),))
    paths = printed.page(tmp_path / "fesl", tmp_path / "paper", runs=2, jobs=1)
    text = (tmp_path / "paper.md").read_text()
    assert "| australian-U, printed | .8073 ± .0037 | .7031 ± .1042 |" in text
    assert set(paths) == {tmp_path / "paper.md", *(tmp_path / "paper").iterdir()}
    assert "Of 12 tests" in text


def test_page_without_data(tmp_path):
    with pytest.raises(ValueError, match="no file of FESL"):
        printed.page(tmp_path, tmp_path / "paper")
