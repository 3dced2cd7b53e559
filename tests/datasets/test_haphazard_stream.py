"""A haphazard stream is what the review plays."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from river.datasets import Phishing, TrumpApproval

from river_pufe import datasets


def review(table, keep, seed):
    """Shuffled by pandas, and masked by NumPy, with one generator."""
    rng = np.random.RandomState(seed)
    table = table.sample(frac=1, random_state=rng)
    mask = rng.random_sample(table.shape) < keep
    mask &= table.notna().to_numpy()
    for row in np.flatnonzero(~mask.any(1)):
        mask[row, rng.randint(table.shape[1])] = True
    for (_, row), own in zip(table.iterrows(), mask):
        yield {key: value for key, value, there in zip(row.index, row.tolist(), own) if there and value == value}


@pytest.mark.parametrize(("keep", "width"), [(0.25, None), (0.5, None), (0.75, None), (0.3, 2)])
def test_equals_the_recipe_of_the_review(keep, width):
    rows = [(dict(itertools.islice(x.items(), width)), y) for x, y in itertools.islice(Phishing(), 300)]
    for x, _ in rows[::7]:
        x["empty_server_form_handler"] = math.nan
    table = pd.DataFrame([x for x, _ in rows])
    samples = list(datasets.HaphazardStream(rows, keep, seed=2023))
    assert [x for x, _ in samples] == list(review(table, keep, 2023))
    assert sorted(y for _, y in samples) == sorted(y for _, y in rows)


def test_it_is_the_same_each_time_and_shows_a_part_of_the_truth():
    stream = datasets.HaphazardStream(TrumpApproval(), keep=0.4)
    samples = list(stream)
    assert samples == list(stream)
    truth = list(stream.truth())
    targets = {tuple(x.values()): y for x, y in TrumpApproval()}
    for (x, y), whole in zip(samples, truth, strict=True):
        assert x
        assert x.items() <= whole.items()
        assert targets[tuple(whole.values())] == y


def test_the_changes_of_the_data_set_are_shuffled_away():
    evolving = datasets.HiddenFactors(n_samples=100, seed=1)
    assert datasets.HaphazardStream(evolving).changes == ()


@pytest.mark.parametrize("keep", [-0.1, 1.1])
def test_keep_is_checked(keep):
    with pytest.raises(ValueError, match="keep must be between 0 and 1"):
        datasets.HaphazardStream(TrumpApproval(), keep)


def test_nothing_comes_of_nothing():
    assert list(datasets.HaphazardStream([])) == []
