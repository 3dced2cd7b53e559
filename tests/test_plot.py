"""Do the pictures show what happened?"""

from __future__ import annotations

import random
import sys

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from river import datasets as river_datasets
from river import evaluate, linear_model, metrics, preprocessing, utils

from river_pufe import FeatureRecovery, PUFEClassifier, datasets, plot
from river_pufe.plot import marks, style
from river_pufe.recovery.spaces import FeatureSpaces


@pytest.fixture
def ax():
    return Figure(figsize=(6, 4)).add_subplot()


def two_spaces(n=300, seed=1):
    return datasets.HiddenFactors(datasets.Cycle(), width=3, n_samples=n, seed=seed)


def keys_that_join(n=400):
    for t in range(n):
        yield ({"a": 1.0, "b": 2.0} if t < 100 else {"a": 1.0, "b": 2.0, "c": 3.0}), None


def keys_that_return():
    cycle = datasets.Cycle(n_spaces=2, n_changes=3, period=100)
    return datasets.HiddenFactors(cycle, width=3, n_samples=400, seed=2)


def spotty(n=400):
    return datasets.CapriciousStream(two_spaces(n), seed=3)


def gone_at_once():
    return datasets.HiddenFactors(datasets.Cycle(overlap=0), width=3, n_samples=300, seed=1)


STREAMS = [two_spaces, keys_that_join, keys_that_return, spotty, gone_at_once]


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.__name__)
def test_overlaps_are_those_of_the_model(stream):
    spaces = FeatureSpaces()
    overlapping = []
    for x, _ in stream():
        spaces.advance(x)
        overlapping.append(spaces.n_previous > 0)
    edges = np.flatnonzero(np.diff([False, *overlapping, False]))
    found = [(start, len(overlapping) if stop is None else stop) for start, stop in marks.as_timeline(spaces).overlaps]
    assert [start for start, _ in found] == edges[::2].tolist()
    # The end is noticed with the sample after the last one of the overlap.
    assert all(0 <= stop - edge <= 1 for (_, stop), edge in zip(found, edges[1::2]))


def test_raster_is_dark_where_a_key_is_there(ax):
    assert plot.presence(two_spaces(), ax=ax) is ax
    (image,) = ax.get_images()
    raster = np.asarray(image.get_array())
    white = (raster[..., :3] == 1).all(-1)
    for row, name in enumerate(text.get_text() for text in ax.get_yticklabels()):
        there = [name in x for x, _ in two_spaces()]
        assert (~white[row]).tolist() == there


def test_raster_marks_spaces_overlaps_and_vanished_keys(ax):
    plot.presence(two_spaces(), ax=ax)
    assert [text.get_text() for text in ax.texts] == ["space 0", "space 1"]
    (crosses,) = ax.collections
    ends = {name: max(t for t, (x, _) in enumerate(two_spaces()) if name in x) for name in ("s0_0", "s0_1", "s0_2")}
    assert sorted(crosses.get_offsets()[:, 0]) == sorted(end + 1 for end in ends.values())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["vanished", "overlap"]
    (band,) = ax.patches
    assert band.get_x() == 130
    assert 150 <= band.get_x() + band.get_width() <= 155


def test_raster_takes_dicts_pairs_and_records(ax):
    record = plot.Presence()
    for x, _ in two_spaces():
        record.update(x)
    images = []
    for stream in (two_spaces(), [x for x, _ in two_spaces()]):
        drawn = plot.presence(stream, ax=Figure().add_subplot())
        images.append(np.asarray(drawn.get_images()[0].get_array()))
    np.testing.assert_array_equal(*images)
    plot.presence(record, ax=ax)
    assert np.asarray(ax.get_images()[0].get_array()).shape == images[0].shape
    assert not ax.texts


def test_raster_takes_texts_and_absent_values(ax):
    plot.presence([{"a": "text", "b": None}, {"a": float("nan"), "b": "text"}], ax=ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b"]


def test_raster_of_a_fresh_key_in_every_sample_is_bounded(ax):
    with pytest.warns(UserWarning, match="seen once or twice"):
        plot.presence(({"stays": 1.0, ("id", t): 1.0} for t in range(3000)), ax=ax)
    (image,) = ax.get_images()
    assert np.asarray(image.get_array()).shape[0] <= 257
    assert ax.get_yticklabels()[-1].get_text().endswith("other keys")


def test_raster_of_nothing(ax):
    plot.presence([], ax=ax)
    plot.presence([{}, {}], ax=ax)
    ax.figure.canvas.draw()


def test_raster_begins_where_the_model_is(ax):
    model = FeatureRecovery()
    for x, _ in two_spaces():
        model.learn_one(x)
    record = plot.Presence(start=300)
    for x, _ in list(two_spaces())[-100:]:
        model.learn_one(x)
        record.update(x)
    plot.presence(record, model, ax)
    assert ax.get_xlim() == (300, 400)


def test_keys_are_labelled_as_they_are(ax):
    plot.presence([{"price $ in $": 1.0, "_hidden": 1.0, ("a", 1): 1.0, 7: 1.0, "x" * 100: 1.0}] * 3, ax=ax)
    ax.figure.canvas.draw()
    labels = [text.get_text().replace("\\", "").strip() for text in ax.get_yticklabels()]
    assert labels[:4] == ["price $ in $", "_hidden", "('a', 1)", "7"]
    assert len(labels[4]) < 40


def steps_of(model, stream, step=20, metric=None):
    metric = metric or metrics.Accuracy()
    return evaluate.iter_progressive_val_score(stream, model, metric, step=step)


def test_weights_are_stacked_to_one(ax):
    model = PUFEClassifier()
    assert plot.weights(steps_of(model, two_spaces()), model, ax) is ax
    top = ax.collections[-1].get_paths()[0].vertices
    assert top[:, 1].max() == pytest.approx(1.0)
    assert ax.get_xlim() == (20, 300)


def test_weights_of_many_experts_are_drawn_as_few(ax):
    pairs = [(t, {f"expert {i}": (20 - i) / 210 for i in range(20)}) for t in range(5)]
    plot.weights(pairs, ax=ax)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(labels) == len(plot.COLOURS)
    assert labels[0] == "14 others"
    assert labels[-1] == "expert 0"


def test_weights_of_experts_that_come_and_go(ax):
    plot.weights([(0, {"old": 1.0}), (1, {"old": 0.5, "new": 0.5}), (2, {"new": 1.0})], ax=ax)
    heights = [area.get_paths()[0].vertices[:, 1].max() for area in ax.collections]
    assert heights == [1.0, 1.0]


def test_weights_need_a_model_for_steps():
    with pytest.raises(ValueError, match="model is None"):
        plot.weights(steps_of(PUFEClassifier(), two_spaces()))


def test_metric_is_that_of_each_step(ax):
    model, other = PUFEClassifier(), preprocessing.StandardScaler() | linear_model.LogisticRegression()
    expected = [(step["Step"], step["Accuracy"].get()) for step in steps_of(PUFEClassifier(), two_spaces())]
    plot.metric({"ours": steps_of(model, two_spaces()), "theirs": steps_of(other, two_spaces())}, ax, changes=(150,))
    np.testing.assert_allclose(ax.lines[0].get_xydata(), expected)
    assert [line.get_label() for line in ax.lines] == ["ours", "theirs", "change"]
    assert ax.lines[0].get_linestyle() != ax.lines[1].get_linestyle()
    assert ax.lines[2].get_xdata()[0] == 150
    assert ax.get_ylabel() == "Accuracy"


def test_metric_of_one_model_and_of_pairs(ax):
    plot.metric([(1, 0.5), (2, 0.75)], ax)
    plot.metric(steps_of(PUFEClassifier(), two_spaces()), ax)
    assert ax.lines[0].get_xydata().tolist() == [[1, 0.5], [2, 0.75]]
    assert len(ax.lines) == 2


def test_metric_by_name_and_rolled(ax):
    both = metrics.Accuracy() + metrics.LogLoss()
    plot.metric(steps_of(PUFEClassifier(), two_spaces(), metric=both), ax, name="LogLoss")
    assert ax.get_ylabel() == "LogLoss"
    rolled = utils.Rolling(metrics.LogLoss, window_size=10)
    label = plot.metric(steps_of(PUFEClassifier(), two_spaces(), metric=rolled)).get_ylabel()
    assert label == "LogLoss, latest 10"
    with pytest.raises(ValueError, match=r"no metric 'F1'.*Accuracy, LogLoss"):
        plot.metric(steps_of(PUFEClassifier(), two_spaces(), metric=both), ax, name="F1")


def test_metric_refuses_a_list_of_steps_that_all_show_the_end():
    steps = list(steps_of(PUFEClassifier(), two_spaces()))
    with pytest.raises(ValueError, match="give the iterator itself"):
        plot.metric(steps)


def test_metric_of_a_long_stream_is_drawn_with_few_points(ax):
    plot.metric(((t, 0.5) for t in range(100_000)), ax)
    assert len(ax.lines[0].get_xdata()) <= 1001


def trained(stream):
    model = FeatureRecovery()
    for x, _ in stream:
        model.learn_one(x)
    return model


def test_recovered_is_what_the_model_says(ax):
    stream = two_spaces(600)
    model = trained(stream)
    pairs = [(x, truth) for (x, _), truth in zip(stream, stream.truth())][-100:]
    plot.recovered(pairs, model, "s0_1", ax)
    points = ax.collections[0].get_offsets()
    np.testing.assert_allclose(points, [(truth["s0_1"], model.recover_one(x)["s0_1"]) for x, truth in pairs])
    assert ax.get_title().startswith("s0_1: R² = ")


def test_recovered_takes_the_first_vanished_key(ax):
    stream = two_spaces(600)
    model = trained(stream)
    pairs = [(x, truth) for (x, _), truth in zip(stream, stream.truth())][-10:]
    plot.recovered(pairs, model, ax=ax)
    assert ax.get_title().startswith(model.vanished[0])


def test_recovered_says_what_is_missing():
    stream = two_spaces(600)
    with pytest.raises(ValueError, match="no key has vanished"):
        plot.recovered([], FeatureRecovery())
    with pytest.raises(ValueError, match="no sample with both"):
        plot.recovered([({"s1_0": 1.0}, {})], trained(stream))


def test_events_are_marked_where_they_happened(ax):
    model = trained(two_spaces())
    ax.set_xlim(0, 300)
    assert plot.events(model, ax) is ax
    assert ax.get_xlim() == (0, 300)
    (come,), (vanish,) = ax.collections, ax.lines
    assert {segment[0][0] for segment in come.get_segments()} == {130}
    assert sorted(vanish.get_xdata()) == sorted(e.round for e in model.events if e.kind == "vanished")


def test_marks_above_the_picture_are_not_cut():
    ax = plot.events(trained(two_spaces()), plot.metric([(0, 0.5), (300, 0.6)]))
    ax.figure.draw_without_rendering()
    (_, vanish) = ax.lines
    assert vanish.get_window_extent().y1 <= ax.figure.bbox.y1


def test_events_go_on_the_current_picture():
    drawn = plot.metric([(0, 0.5), (300, 0.6)])
    assert plot.events(trained(two_spaces())) is drawn


def test_without_axes_there_is_a_new_figure():
    first = plot.metric([(0, 0.5)])
    assert plot.metric([(0, 0.5)]) is not first


def test_what_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"river-pufe\[plot\]"):
        plot.presence([{"a": 1.0}])


def test_colours_differ_in_brightness_or_hatch():
    brightness = [sum(w * c for w, c in zip((0.3, 0.59, 0.11), to_rgb(colour))) for colour in plot.COLOURS]
    assert len(set(style.HATCHES)) == len(style.HATCHES) >= len(plot.COLOURS)
    assert max(brightness) < 0.75


@pytest.mark.parametrize("seed", range(3))
def test_pictures_of_real_streams_can_be_drawn(seed):
    source = river_datasets.ImageSegments() if seed else river_datasets.Phishing()
    stream = datasets.MappedSpaces(source, datasets.Cycle(n_spaces=3), seed=random.Random(seed).random())
    model, record, weights = PUFEClassifier(), plot.Presence(), plot.Series()
    for t, (x, y) in enumerate(stream.take(1000)):
        model.learn_one(x, y)
        record.update(x)
        weights.add(t, model.expert_weights)
    figure = Figure(layout="constrained")
    above, below = figure.subplots(2)
    plot.presence(record, model, above)
    plot.events(model, plot.weights(weights, ax=below))
    figure.canvas.draw()
    assert above.get_legend() is not None
    assert below.get_ylim() == (0, 1)
