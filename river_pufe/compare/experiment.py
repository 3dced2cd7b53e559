"""How does each method fare in each run?"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import math
import multiprocessing
import os
import signal
import typing
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from .data import Data
from .methods import C_GRID, METHODS, Method

#: Whether the overlap is unpredictable, and the letter that stands for it in the paper's table.
SETTINGS = {"P": False, "U": True}

#: Squared errors and probabilities are taken for no worse than this.
_WORST, _LEAST = 1e300, 1e-15

Floats = npt.NDArray[np.float64]
#: Setting, method, and c if it has one.
Key = tuple[str, str, float | None]


@dataclasses.dataclass
class Played:
    """How a method fared over the rounds of the current space.

    Parameters
    ----------
    scores
        Accuracy or mean squared error of each run, shape (runs,).
    losses
        Logistic or squared loss, shape (runs, rounds).

    """

    scores: Floats
    losses: Floats


@dataclasses.dataclass
class Comparison:
    """What came out on one data set, with one length of the overlap.

    Parameters
    ----------
    data
        The data set.
    overlap
        Rounds in which both spaces are seen.
    seed
        Seed of the runs.
    settings
        The settings that were played, `SETTINGS` by letter.
    methods
        The methods, by name, in the order of the table.
    c
        The value that all methods were given; None: each was searched in `C_GRID` for its best one over these rounds.
    played
        What came out, by setting, name of the method, and c.

    """

    data: Data
    overlap: int
    seed: int
    settings: tuple[str, ...]
    methods: Mapping[str, Method]
    c: float | None
    played: dict[Key, Played]

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(next(iter(self.played.values())).scores)

    def fixed(self, c: float) -> Comparison:
        """The same comparison with one c for all methods, of those that were played."""
        return dataclasses.replace(self, c=c)

    def only(self, methods: Sequence[str]) -> Comparison:
        """The same comparison of fewer methods."""
        return dataclasses.replace(self, methods={name: self.methods[name] for name in methods})

    def best(self, setting: str, method: str) -> tuple[float | None, Played] | None:
        """The c of a method, and what came out with it; None if the method cannot run in this setting."""
        choices = {key[2]: played for key, played in self.played.items() if key[:2] == (setting, method)}
        if self.c in choices:
            return self.c, choices[self.c]
        return min(choices.items(), key=lambda item: self.rank(item[1])) if choices else None

    def rank(self, played: Played) -> float:
        """The lower, the better."""
        mean = float(played.scores.mean())
        return (mean if math.isfinite(mean) else math.inf) if self.data.regression else -mean


@dataclasses.dataclass(frozen=True)
class _Job:
    data: Data
    setting: str
    name: str
    method: Method
    run: int
    overlap: int
    seed: int
    cs: tuple[float | None, ...]


def run(
    data: Data,
    methods: Sequence[str] | Mapping[str, Method] | None = None,
    settings: Collection[str] = ("P", "U"),
    overlap: int = 20,
    runs: int = 10,
    seed: int = 0,
    grid: bool = False,
    jobs: int = 1,
    progress: Callable[[int, int], object] | None = None,
) -> Comparison:
    """Let methods play the same streams: Section IV of the paper.

    The first half of a stream has the previous space, the second half the current one, and only the rounds in which
    nothing is left of the previous space count. Each run has its own order of the rows, its own random matrix (unless
    the current space is in the file) and its own order of vanishing. The same arguments give the same figures, whatever
    the number of jobs.

    Parameters
    ----------
    data
        What `load` gives.
    methods
        Names of `METHODS`, by default all but those for other settings than the paper's; or methods of your own by
        name, as a dict of `Method`.
    settings
        ``"P"``: the overlap is predictable, so intact. ``"U"``: it is not, the old features vanish one by one.
    overlap
        Rounds in which both spaces are seen.
    runs
        Number of runs; a file of FESL has ten.
    seed
        Seed of the runs.
    grid
        Whether each method that has a c is given the best one of `C_GRID` afterwards, as in the paper; else it is 1.
        What is chosen on the rounds on which it is judged looks a little better than it is.
    jobs
        Number of processes. With more than one, a script must be safe to import: call `run` below
        ``if __name__ == "__main__":``.
    progress
        Called with the number of games that are over, and of all games, after each one.

    Examples
    --------
    >>> from river_pufe import compare
    >>> comparison = compare.run(compare.load("Phishing"), ["NOGD", "ROGD-u", "PUFE"], settings="U", runs=2)
    >>> print(compare.to_markdown([comparison]))
    |  | NOGD | ROGD-u | PUFE |
    | --- | --- | --- | --- |
    | Phishing-U | .7928 ± .0396• | .7840 ± .0136 | **.8272 ± .0181** |
    <BLANKLINE>
    Accuracy (higher is better) over the rounds of the current space, mean ± standard deviation of 2 runs. ...

    """
    known = methods if isinstance(methods, Mapping) else METHODS
    names = tuple([m for m in METHODS if not METHODS[m].is_rival] if methods is None else methods)
    settings = tuple(settings)
    for what, given, choices in (("method", names, known), ("setting", settings, SETTINGS)):
        if unknown := set(given) - set(choices):
            raise ValueError(f"there is no {what} {unknown.pop()!r}: choose from {', '.join(choices)}")
    if not names or not settings:
        raise ValueError("nothing to play: name a method and a setting at least")
    most = data.most_runs or math.inf
    if not 1 <= runs <= most:
        raise ValueError(f"runs is a number from 1 to {most}, not {runs!r}")
    if not jobs >= 1:
        raise ValueError(f"jobs is a number of processes, 1 or more, not {jobs!r}")
    games = [
        _Job(data, setting, name, known[name], number, overlap, seed, _cs(known[name], grid))
        for setting in settings
        for name in names
        for number in range(1, runs + 1)
        if known[name].can_play(data, SETTINGS[setting])
    ]
    if not games:
        raise ValueError(f"nothing to play: {', '.join(names)} cannot play {data.name} in the settings asked for")
    results: dict[Key, dict[int, tuple[float, Floats]]] = {}
    # Whatever interrupts this, the processes end first.
    with contextlib.closing(_play_all(games, jobs)) as outcomes:
        for done, (job, outcome) in enumerate(outcomes, start=1):
            for c, result in outcome.items():
                results.setdefault((job.setting, job.name, c), {})[job.run] = result
            if progress is not None:
                progress(done, len(games))
    played = {
        key: Played(np.array([by_run[n][0] for n in sorted(by_run)]), np.array([by_run[n][1] for n in sorted(by_run)]))
        for key, by_run in results.items()
    }
    return Comparison(
        data, overlap, seed, settings, {name: known[name] for name in names}, None if grid else 1.0, played
    )


def _cs(method: Method, grid: bool) -> tuple[float | None, ...]:
    if not method.has_c:
        return (None,)
    return C_GRID if grid else (1.0,)


def _play_all(
    games: list[_Job], jobs: int
) -> Generator[tuple[_Job, dict[float | None, tuple[float, Floats]]], None, None]:
    if jobs == 1:
        for job in games:
            yield job, _play(job)
        return
    with (
        _one_thread(),
        concurrent.futures.ProcessPoolExecutor(
            jobs,
            multiprocessing.get_context("spawn"),
            initializer=signal.signal,
            initargs=(signal.SIGINT, signal.SIG_IGN),
        ) as pool,
    ):
        futures = {pool.submit(_play, job): job for job in games}
        try:
            for future in concurrent.futures.as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Processes that start in here do linear algebra in one thread: several would wait for each other."""
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update({name: "1" for name in names if before[name] is None})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]


def _play(job: _Job) -> dict[float | None, tuple[float, Floats]]:
    """Score and losses of one method in one run, by c."""
    data = job.data
    stream = data.stream(job.run, job.overlap, SETTINGS[job.setting], job.seed)
    change = stream.changes[-1]
    rounds = list(stream)
    outcome = {}
    for c in job.cs:
        model = job.method.make(data, c, horizon=len(rounds) - change, seed=job.run)
        judge = _number if data.regression else _label
        judged = []
        # A step that is too long makes a linear model leave the data, up to infinity: that is an outcome, too.
        with np.errstate(all="ignore"):
            for t, (x, y) in enumerate(rounds):
                if t >= change:
                    judged.append(judge(model, x, y))
                model.learn_one(x, y)
        scores, losses = np.array(judged).T
        outcome[c] = float(scores.mean()), losses
    return outcome


def _number(model: typing.Any, x: typing.Any, y: float) -> tuple[float, float]:
    off = model.predict_one(x) - y
    loss = off * off
    # Not below is beyond, or no number at all.
    loss = float(loss) if loss < _WORST else _WORST
    return loss, loss


def _label(model: typing.Any, x: typing.Any, y: typing.Any) -> tuple[float, float]:
    probabilities = model.predict_proba_one(x)
    guess = max(probabilities, key=probabilities.__getitem__) if probabilities else None
    p = probabilities.get(y, 0.0)
    return float(guess == y), -math.log(p if p > _LEAST else _LEAST)
