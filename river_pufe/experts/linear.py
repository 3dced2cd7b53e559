"""What do linear models predict, on several features of several views of a sample, and under several rules?"""

from __future__ import annotations

import itertools
import math
import typing

import numpy as np

from .. import kernels
from ..kernels.plain import compare, n_groups
from ..recovery.evolution import Evolution
from ..recovery.reading import COMPLETED, FRESH, PRESENT, Reading
from ..recovery.scaling import NewUnits
from ..state.parts import Stored
from ..tasks.task import Task
from ..values import Array, Indices, Mask
from .experts import Experts, Predicted, Round
from .feature_maps import FeatureMap, Identity, Neighbours, RandomFourier
from .rules import ImplicitGradient, Newton, UpdateRule

#: So many rounds all models play after a change; later those that are of no use play one round of so many.
_TRIAL, _EVERY = 200, 9
#: They play as after a change where the loss of late is so many times as large as over a longer time.
_WORSE = 1.5


class LinearExperts(Stored, Experts):
    """Linear models: feature maps × views × rules.

    Three *views* of a sample:

    - *present* reads what is there, and is never reset: the linear model that a user would otherwise run;
    - *recovered* reads completed rows. When a space opens it starts from the mixture of all experts, and when features
      are dropped its weights on them move to what is left, by the learned map: a linear model of recovered features is
      linear in the features they are recovered from;
    - *fresh* starts anew with each space, and reads nothing else.

    Where a retired feature returns, *present* goes on with the weight that it had, and *fresh* starts from the one that
    *recovered* had.

    *Feature maps* add up: models of the second one read the features of the first as well, and so on. By default there
    are models of the row itself; of the row and the mean target of its neighbours, for targets that persist; and of
    random Fourier features beside both, for targets that are not linear.

    The models of a map after the first *rest* while they are of no use: unless they lowered the loss of the mixture by
    1 % of late, they play every ninth round, and are asleep in the others. After each change of the features, and where
    the loss of late is half as large again as it was, all play for 200 rounds. Neighbours are remembered in any case.

    All experts share the directions of the rules, one for each rule and map, so a round costs one product of the
    features with a matrix of weights for all scores, and one step for each rule and map. With n features in all it
    costs O(maps · rules · n) time and memory, and what rules and maps need.

    Parameters
    ----------
    maps
        The feature maps, in the order in which they add up. One that is not trusted at all has no models of its own;
        its features are read by those of later maps. By default `Identity`, `Neighbours` and `RandomFourier`;
        ``(Identity(),)`` leaves all but the linear models out.
    rules
        The learning rules; each is used on the features of each map and in every view. By default a second-order one, a
        first-order one, which follows what changes, and a fast one, trusted less, for what changes from day to day.
    prior
        How much the views *present*, *recovered* and *fresh* count before any loss. The recovered model is what was
        best so far, so most of the trust is in it.
    min_gain
        The share of the loss by which the models of a map have to lower it, or they rest. Small values save less time,
        large ones may miss a small gain; None: none ever rests.

    """

    VIEWS = ("present", "recovered", "fresh")
    DERIVED = ("_forms", "_has_form", "_learning", "_lineups", "_of_outcomes", "_playing", "_resting")

    def __init__(
        self,
        maps: tuple[FeatureMap, ...] | None = None,
        rules: tuple[UpdateRule, ...] | None = None,
        prior: tuple[float, float, float] = (3.0, 8.0, 1.0),
        min_gain: float | None = 0.01,
    ) -> None:
        if min_gain is not None and not min_gain >= 0:
            raise ValueError(f"min_gain is a share of the loss, 0 or more, or None, not {min_gain!r}")
        if not (len(prior) == len(self.VIEWS) and min(prior) > 0):
            raise ValueError(f"prior is one number above 0 for each of present, recovered and fresh, not {prior!r}")
        self.maps = maps if maps is not None else (Identity(), Neighbours(), RandomFourier())
        self.rules = (
            rules
            if rules is not None
            else (Newton(forgetting=0.998), ImplicitGradient(), ImplicitGradient(rate=0.3, trust=0.1))
        )
        self.prior = prior
        self.min_gain = min_gain
        if not any(each.trust for each in self.maps):
            raise ValueError("maps must have one whose trust is above 0")
        if not self.rules:
            raise ValueError("rules must have one rule or more")
        self._maps = [each.clone() for each in self.maps]
        # The maps that have models of their own, and the rules of each map.
        self._heads = [k for k, each in enumerate(self.maps) if each.trust]
        self._rules = [[rule.clone() for rule in self.rules] for _ in self._maps]
        self._n_slots = self._n_columns = 0
        # As in `kernels.Linear`; rounds since the latest change, and how many heads play the next one.
        self._merits: Array = np.zeros((2, len(self._heads)))
        self._trend: Array = np.zeros(2)
        self._n_played, self._n_playing = 0, len(self._heads)
        # There is nothing fresh about the first space.
        self._awake: Array = np.tile([1.0, 1.0, 0.0], len(self._heads) * len(self.rules))
        # Inputs (the constant first, then the features of each map) × maps · rules × views × columns.
        self._weights: Array = np.zeros((0, len(self._heads) * len(self.rules), len(self.VIEWS), 0))
        self._ends = [0] * len(self._maps)
        self._rearrange([np.full(each.n, -1) for each in self._maps])
        # Weights of the slots of retired spaces on the features that belong to a slot, and the unit of their scores.
        self._retired: dict[int, Array] = {}
        self._unit = 1.0

    @classmethod
    def for_numbers(cls) -> LinearExperts:
        """The default of regressors.

        A number is often precise, and hardly ever as uncertain as a class: so the second-order rule remembers 2,000
        rounds instead of 500, and the slow first-order rule is trusted less.
        """
        rules = Newton(forgetting=0.9995), ImplicitGradient(trust=0.3), ImplicitGradient(rate=0.3, trust=0.1)
        return cls(rules=rules)

    @property
    def names(self) -> tuple[str, ...]:
        kinds = itertools.product([self._maps[k] for k in self._heads], self.rules, self.VIEWS)
        return tuple(" ".join(filter(None, (view, each.name, rule.name))) for each, rule, view in kinds)

    @property
    def priors(self) -> Array:
        of_maps = [self.maps[k].trust for k in self._heads]
        of_rules = [rule.trust for rule in self.rules]
        return np.multiply.outer(np.multiply.outer(of_maps, of_rules), self.prior).reshape(-1)

    def make_room(self, task: Task) -> None:
        more = task.n_columns - self._n_columns
        # A class is most like the mean of the others before anything is known of it; the first one has score 0.
        share = 1.0 / (self._n_columns + 1)
        self._weights = _with_mean(self._weights, share, more)
        self._retired = {number: _with_mean(weights, share, more) for number, weights in self._retired.items()}
        self._n_columns = task.n_columns
        self._rearrange([each.make_room(task.n_outcomes) for each in self._maps])
        # What is known of one outcome is known of all: their order must not matter.
        for k, (each, rules) in enumerate(zip(self._maps, self._rules)):
            if each.of_outcomes:
                # The constant is of the block of the first map.
                origins = np.repeat([0, -1], [k == 0, each.n])
                for rule in rules:
                    rule.rearrange(origins)
        self.rebuild()
        self._try()

    def predict(self, reading: Reading, task: Task) -> Predicted:
        inputs = self._inputs(reading.views, task)
        scores = kernels.linear_scores(inputs, self._weights, n_groups(self._playing))
        return Predicted(task.predictions(scores), self._playing.awake, inputs)

    def predict_many(self, views: Array, task: Task) -> tuple[Array, Array] | None:
        if not self._n_columns:
            return None
        inputs, playing = self._inputs(views, task), n_groups(self._playing)
        scores = np.zeros((len(views), *self._weights.shape[1:]))
        scores[:, :playing] = np.tensordot(inputs, self._weights[: inputs.shape[1], :playing], 1)
        predictions = task.predictions(scores.reshape(-1, self._n_columns))
        return predictions.reshape(len(views), len(self._awake), self._n_columns), self._playing.awake

    def _inputs(self, views: Array, task: Task) -> Array:
        """What the models read, shape (views, inputs), from standardized rows behind a leading 1."""
        inputs = np.empty((len(views), self._playing.ends[-1]))
        inputs[:, 0] = 1.0
        rows = kernels.clip(np.ascontiguousarray(views[:, 1:]), task.clip)
        start = 1
        for each, end in zip(self._maps, self._playing.ends):
            inputs[:, start:end] = each(rows)
            start = end
        return inputs

    def learn(self, reading: Reading, round_: Round, task: Task) -> None:
        if not self._n_columns:
            return
        inputs: Array = round_.predicted.inputs
        predictions, playing = round_.predicted.predictions, self._playing
        compare(predictions, round_.weights, round_.target, playing, task.losses)
        learn_from = min(COMPLETED, len(inputs) - 1)
        errors = task.errors(predictions, round_.target)
        curvature = task.curvature(round_.mixture, round_.target)
        if round_.w != 1.0:
            curvature, errors = round_.w * curvature, round_.w * errors
        blocks = itertools.pairwise([0, *playing.ends])
        rules = [
            [
                form
                if form is not None
                else kernels.Given(rule.forgetting, *rule.step(inputs[:, start:end], curvature, learn_from))
                for form, rule in zip(forms, rules)
            ]
            for forms, rules, (start, end) in zip(self._forms, self._rules, blocks)
        ]
        kernels.learn_linear(
            inputs, curvature, learn_from, errors, self._lineup(playing.maps, rules, len(playing.heads))
        )

    def remember(self, reading: Reading, y: typing.Any, w: float, task: Task) -> None:
        if self._learning:
            row, outcome, changed = kernels.clip(reading.completed[1:], task.clip), task.outcome(y), False
            for each in self._learning:
                changed |= each.learn(row, outcome, w)
            if changed:
                self.rebuild()
        if self._resting is not None:
            played = self._n_played + 1
            self.go_on(1, kernels.heads_to_play(self._n_playing, played, self._merits, self._trend, self._resting))

    def ahead(self, n: int) -> kernels.Ahead | None:
        if not self._has_form:
            return None
        n = min([n, *(each.room for each in self._learning)])
        if n == 0:
            return None
        nearest = [each.form for each in self._learning]
        return kernels.Ahead(n, nearest, self._lineups, self._n_playing, self._n_played, self._resting)

    def go_on(self, n: int, playing: int) -> None:
        if self._resting is None:
            return
        self._n_played += n
        if playing == 0:
            self._try()
        elif playing != self._n_playing:
            self._play(playing)

    def _play(self, heads: int) -> None:
        self._n_playing = heads
        self._playing = self._lineups[heads - 1]

    def _try(self) -> None:
        """Let all models play, because what was of no use before may be now."""
        self._n_played = 0
        self._play(len(self._heads))

    @property
    def form(self) -> kernels.Linear | None:
        return self._playing if self._has_form else None

    def rebuild(self) -> None:
        min_gain = self.min_gain
        self._resting = kernels.Resting(min_gain, _TRIAL, _EVERY, _WORSE) if min_gain is not None else None
        self._learning = [each for each in self._maps if each.learns]
        # Which inputs are means of outcomes; the constant, and what no map has made room for, are not.
        self._of_outcomes = np.zeros(len(self._weights), dtype=bool)
        for each, start, end in zip(self._maps, [1, *self._ends], self._ends):
            self._of_outcomes[start:end] = each.of_outcomes
        self._forms = [[rule.form for rule in rules] for rules in self._rules]
        maps = [each.form for each in self._maps]
        self._has_form = None not in maps and not any(None in forms for forms in self._forms)
        self._lineups = [self._lineup(maps, self._forms, heads + 1) for heads in range(len(self._heads))]
        self._play(self._n_playing)

    def check_state(self) -> None:
        n_inputs, *_, n_columns = self._weights.shape
        ends = list(itertools.accumulate((each.n for each in self._maps), initial=1))[1:]
        slots = {each.n for each in self._maps if each.per_slot} or {self._n_slots}
        if (ends, n_inputs, n_columns, slots) != (self._ends, ends[-1], self._n_columns, {self._n_slots}):
            raise ValueError(
                f"the state has weights of {n_inputs} inputs in {n_columns} columns, but feature maps up to {ends} and "
                f"_ends={self._ends!r}, _n_slots={self._n_slots!r}, _n_columns={self._n_columns!r}"
            )

    def _lineup(self, maps: list[typing.Any], rules: list[list[typing.Any]], heads: int) -> kernels.Linear:
        """The models of the first heads, as `kernels` know them."""
        end = self._heads[heads - 1] + 1
        awake = self._awake.copy()
        awake[heads * len(self.rules) * len(self.VIEWS) :] = 0.0
        return kernels.Linear(
            maps[:end],
            self._heads[:heads],
            self._ends[:end],
            rules[:end],
            self._weights,
            awake,
            self._merits,
            self._trend,
        )

    def follow(self, evolution: Evolution, weights: Array) -> Mask:
        born = np.zeros(self._weights.shape[1:3], dtype=bool)
        if evolution.overlap:
            self._start_fresh(weights)
            self._awake = np.ones(born.size)
            born[:, FRESH] = True
        if evolution.opened:
            self._open(evolution)
        if evolution.keep is not None:
            self._keep(evolution, evolution.keep)
        for identifier in evolution.forgotten:
            del self._retired[identifier]
        born |= evolution.replaced
        self.rebuild()
        self._try()
        return born.reshape(-1)

    def _start_fresh(self, shares: Array) -> None:
        """Recovered models become the mixture of all models of the same features, and fresh ones start anew."""
        shape = len(self._heads), len(self.rules), len(self.VIEWS)
        of_maps = np.split(self._weights, len(self._heads), axis=1)
        for models, share, prior in zip(of_maps, shares.reshape(shape), self.priors.reshape(shape)):
            share = share if share.sum() > 0 else prior
            models[:, :, COMPLETED] = np.einsum("irvc,rv->ic", models, share / share.sum())[:, None]
        self._weights[1:, :, FRESH] = 0.0
        self._weights[0, :, FRESH] = self._weights[0, :, COMPLETED]

    def _open(self, evolution: Evolution) -> None:
        recovered = self._weights[:, :, COMPLETED]
        recovered = recovered / max(float(np.abs(recovered).max(initial=0.0)), 1.0)
        # How much scores differ among the classes, of which the first one has score 0.
        strengths = (np.square(recovered).sum(2) - np.square(recovered.sum(2)) / (self._n_columns + 1)).sum(1)
        starts = [1, *self._ends]
        self._rearrange(
            [
                each.open(evolution.opened, self._n_slots, strengths[start:end], evolution.overlap)
                for each, start, end in zip(self._maps, starts, self._ends)
            ]
        )
        for slot, origin in enumerate(evolution.origins, self._n_slots):
            if origin is not None:
                space, position = origin
                for i, known in zip(self._inputs_of(slot), self._retired[space][position]):
                    self._weights[i][:, [PRESENT, FRESH]] = self._unit * known
        self._n_slots += evolution.opened

    def _keep(self, evolution: Evolution, slots: Mask) -> None:
        if evolution.retired is not None:
            dropped = [self._weights[self._inputs_of(slot)] for slot in np.flatnonzero(~slots).tolist()]
            weights = np.array(dropped)[..., [PRESENT, COMPLETED], :] / self._unit
            self._retired[evolution.retired] = np.ascontiguousarray(weights)
        before, starts, ends = self._weights, [1, *self._ends], self._ends
        origins = [each.keep(slots, evolution.recover) for each in self._maps]
        self._rearrange(origins)
        self._n_slots = int(np.count_nonzero(slots))
        if evolution.recover is None:
            return
        for each, kept, start, end, at in zip(self._maps, origins, starts, ends, [1, *self._ends]):
            lost = np.setdiff1d(np.arange(end - start), kept)
            if len(lost):
                weights = before[start:end][lost][:, :, COMPLETED]
                size = math.prod(weights.shape[1:])
                moved, constant = each.pull_back(weights.reshape(len(lost), size), evolution.recover)
                self._weights[at : at + each.n, :, COMPLETED] += moved.reshape(each.n, *weights.shape[1:])
                self._weights[0, :, COMPLETED] += constant.reshape(weights.shape[1:])

    def _inputs_of(self, slot: int) -> list[int]:
        """The inputs that are features of a slot alone."""
        return [start + slot for each, start in zip(self._maps, [1, *self._ends]) if each.per_slot]

    def _rearrange(self, origins: list[Indices]) -> None:
        """Other inputs, given what each feature of each map was before."""
        starts, known = [1, *self._ends], len(self._weights) > 0
        blocks = [np.where(of >= 0, of + start, -1) for of, start in zip(origins, starts)]
        # The constant is of the block of the first map.
        blocks[0] = np.append(0 if known else -1, blocks[0])
        inputs = np.concatenate(blocks)
        weights = np.zeros((len(inputs), *self._weights.shape[1:]))
        weights[inputs >= 0] = self._weights[inputs[inputs >= 0]]
        self._weights = weights
        self._ends = list(itertools.accumulate(map(len, blocks)))
        for rules, block, start in zip(self._rules, blocks, [0, *starts[1:]]):
            for rule in rules:
                rule.rearrange(np.where(block >= 0, block - start, -1))
        self.rebuild()

    def rescale(self, units: NewUnits, task: Task) -> None:
        if not task.exact:
            return
        # Inputs × maps × rules × views × columns.
        weights = self._weights.reshape(len(self._weights), len(self._heads), len(self.rules), *self._weights.shape[2:])
        for k, (each, rules, start, end) in enumerate(zip(self._maps, self._rules, [0, *self._ends], self._ends)):
            new = each.rescale(units)
            if new is None:
                continue
            if k == 0:
                new = NewUnits(np.append(1.0, new.factor), np.append(0.0, new.shift), np.append(math.inf, new.seen))
            for r, rule in enumerate(rules):
                weights[start:end, :, r] = rule.rescale(new, weights[start:end, :, r])
        self.rebuild()

    def rescale_scores(self, factor: float, shift: float) -> None:
        self._unit *= factor
        for each in self._maps:
            each.rescale_scores(factor, shift)
        kernels.rescale_scores(self._weights, self._of_outcomes, factor, shift)


def _with_mean(weights: Array, share: float, more: int) -> Array:
    """Weights with some more columns, which are the mean of the others and of 0."""
    mean = share * weights.sum(-1, keepdims=True)
    return np.concatenate([weights, np.repeat(mean, more, axis=-1)], axis=-1)
