"""A data set of the papers, written anew in small."""

from __future__ import annotations

import random

import pytest

from river_pufe import datasets


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = random.Random(1)
    n, runs = 40, 10
    names = ["X1_f1", "X1_f2", "X1_f3", "X2_f1", "X2_f2", "label", *(f"perm_{r + 1}" for r in range(runs))]
    orders = [rng.sample(range(1, n + 1), n) for _ in range(runs)]
    lines = [",".join(names)]
    for i in range(n):
        # The first feature tells the number of the row.
        features = [i, rng.random(), rng.random(), rng.random(), i + 0.5]
        row = [*features, 1.0 if i % 3 == 0 else -1.0, *(float(order[i]) for order in orders)]
        lines.append(",".join(map(str, row)))
    path = tmp_path_factory.mktemp("fesl") / "small.csv"
    path.write_text("\n".join(lines) + "\n")
    return path, orders


@pytest.mark.parametrize("run", range(1, 11))
def test_reads_the_rows_in_the_order_of_the_run(path, run):
    path, orders = path
    dataset = datasets.FESL(path, run=run, overlap=5)
    rows = [int(x["X1_f1"]) + 1 for x in dataset.truth()]
    assert rows == orders[run - 1]
    assert [y for _, y in dataset] == [row % 3 == 1 for row in rows]
    assert all(isinstance(y, bool) for _, y in dataset)


@pytest.mark.parametrize("unpredictable", [True, False])
def test_is_the_stream_of_the_paper(path, unpredictable):
    dataset = datasets.FESL(str(path[0]), run=2, overlap=5, unpredictable=unpredictable)
    assert dataset.changes == (20,)
    assert list(dataset) == list(dataset)
    previous, current = {"X1_f1", "X1_f2", "X1_f3"}, {"X2_f1", "X2_f2"}
    sizes = []
    for t, ((x, _), truth) in enumerate(zip(dataset, dataset.truth(), strict=True)):
        assert x.items() <= truth.items()
        if t < 15:
            assert x.keys() == previous
        elif t < 20:
            assert x.keys() & current == current
            sizes.append(len(x.keys() & previous))
        else:
            assert x.keys() == current
    assert sizes == sorted(sizes, reverse=True)
    assert sizes == ([2, 2, 1, 1, 1] if unpredictable else [3] * 5)


def test_describes_itself(path):
    dataset = datasets.FESL(path[0], overlap=5)
    assert (dataset.n_samples, dataset.n_features, dataset.n_classes) == (40, 5, 2)
    assert dataset.path == path[0]
    assert str(path[0]) in repr(dataset)


def test_vanishing_is_drawn_with_the_run_and_with_the_seed(path):
    def order(**parameters):
        dataset = datasets.FESL(path[0], overlap=10, **parameters)
        return tuple(frozenset(x) for x, _ in dataset)

    assert len({order(run=run) for run in range(1, 11)}) > 1
    assert len({order(seed=seed) for seed in range(10)}) > 1
    assert order(run=3) == order(run=4, seed=3)


@pytest.mark.parametrize("run", [0, 11, 1.5])
def test_there_are_ten_runs(path, run):
    with pytest.raises(ValueError, match="run must be a whole number from 1 to 10"):
        datasets.FESL(path[0], run=run)


def test_the_overlap_fits_in_the_first_half(path):
    with pytest.raises(ValueError, match="overlap must be less than the period, 20"):
        datasets.FESL(path[0])


@pytest.mark.parametrize("text", ["", "a,b,label\n1,2,3\n", "X1_f1,X2_f1,perm_1\n1,2,1\n"])
def test_rejects_other_files(tmp_path, text):
    path = tmp_path / "other.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"path must be a file with columns X1_…, X2_…, label and perm_1"):
        datasets.FESL(path)


def test_says_when_there_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        datasets.FESL(tmp_path / "none.csv")
