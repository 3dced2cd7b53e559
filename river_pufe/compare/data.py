"""Which stream is played in a run?"""

from __future__ import annotations

import abc
import csv
import dataclasses
import functools
import os
import pathlib
import random
import typing
from collections.abc import Collection

from river import datasets as river_datasets
from river.datasets import base

from .. import datasets, files
from ..datasets.cycle import CycleStream
from ..datasets.evolving import Features

#: The data sets of numbers that come with River, for which nothing is downloaded.
BUNDLED = ("Bananas", "ChickWeights", "ImageSegments", "Phishing", "SP500Stocks", "TrumpApproval")

Rows = list[tuple[Features, typing.Any]]


@dataclasses.dataclass(frozen=True)
class Data(abc.ABC):
    """A small, picklable description of a data set.

    Parameters
    ----------
    name
        What it is called.
    regression
        Whether the target is a number.
    n_classes
        Number of classes, 0 for numbers.
    scaled
        Whether the features are taken as scaled already. Otherwise they are standardized on the fly, and so is a target
        that is a number, for all methods that do not do that themselves.

    """

    name: str
    regression: bool
    n_classes: int
    scaled: bool

    #: How many runs there are, if they are numbered.
    most_runs: typing.ClassVar[int | None] = None

    @abc.abstractmethod
    def stream(self, run: int, overlap: int, unpredictable: bool, seed: int = 0) -> CycleStream:
        """The stream of one run, counted from 1; always the same for the same arguments."""

    def _draw(self, run: int, seed: int) -> int:
        return random.Random(f"{seed}/{run}").getrandbits(32)


@dataclasses.dataclass(frozen=True)
class FESLData(Data):
    """A file of FESL: two spaces and ten orders of the rows are in it, and its features are scaled."""

    path: str

    most_runs = 10

    def stream(self, run: int, overlap: int, unpredictable: bool, seed: int = 0) -> CycleStream:
        return datasets.FESL(self.path, run, overlap, unpredictable, seed=self._draw(run, seed))


@dataclasses.dataclass(frozen=True)
class Table(Data):
    """Rows of one space; each run shuffles them and maps them to another one with a random matrix."""

    source: str
    target: str | None = None
    ignore: tuple[str, ...] = ()

    def stream(self, run: int, overlap: int, unpredictable: bool, seed: int = 0) -> CycleStream:
        draw = self._draw(run, seed)
        rows = _rows(self.source, self.target, self.regression, self.ignore).copy()
        random.Random(draw).shuffle(rows)
        return datasets.MappedSpaces(rows, datasets.Cycle(overlap=overlap, unpredictable=unpredictable), seed=draw)


def load(
    source: str | os.PathLike[str],
    target: str | None = None,
    regression: bool | None = None,
    ignore: Collection[str] = (),
) -> Data:
    """A data set to compare on.

    Parameters
    ----------
    source
        Name of one of the data sets in `BUNDLED`, path of a file in the format of FESL (see `datasets.FESL`), or path
        of any file with a target that `files.Reader` reads.
    target
        Name of the target in a file; a file of FESL needs none.
    regression
        Whether the target of a file is a number. By default its values decide.
    ignore
        Names of columns of a file that are not features.

    Raises
    ------
    ValueError
        If there is no such data set, the file has no such target, or the target has a single value.

    Examples
    --------
    >>> from river_pufe import compare
    >>> compare.load("Phishing")
    Table(name='Phishing', regression=False, n_classes=2, scaled=False, source='Phishing', target=None,
    ignore=())
    >>> compare.load("Fishing")
    Traceback (most recent call last):
        ...
    ValueError: there is no file 'Fishing', and no such data set: choose one of Bananas, ChickWeights, ImageSegments,
    Phishing, SP500Stocks, TrumpApproval

    """
    source = os.fspath(source)
    if source in BUNDLED:
        dataset = getattr(river_datasets, source)()
        n_classes = 2 if dataset.task == base.BINARY_CLF else dataset.n_classes or 0
        return Table(source, dataset.task == base.REG, n_classes, False, source)
    path = pathlib.Path(source)
    if not path.is_file():
        raise ValueError(f"there is no file {source!r}, and no such data set: choose one of {', '.join(BUNDLED)}")
    if target is None and _is_fesl(path):
        return FESLData(path.stem, False, 2, True, source)
    if target is None:
        raise ValueError(f"the target must be named: which of the columns of {source} is it?")
    ignore = tuple(ignore)
    targets = [y for _, y in _rows(source, target, None, ignore)]
    if regression is None:
        regression = files.guess_task(targets) == "regression"
    n_classes = 0 if regression else len(set(targets))
    if len(set(targets)) < 2:
        raise ValueError(f"the target {target!r} is {targets[0]!r} in all rows of {source}: there is nothing to learn")
    if regression and not all(isinstance(y, float) for y in targets):
        raise ValueError(f"the target {target!r} is not a number in all rows of {source}")
    return Table(path.stem, regression, n_classes, False, source, target, ignore)


def _is_fesl(path: pathlib.Path) -> bool:
    with path.open(newline="", errors="replace") as file:
        names = next(csv.reader(file), [])
    return {"label", "perm_1"}.issubset(names) and any(name.startswith("X2_") for name in names)


def _rows(source: str, target: str | None, regression: bool | None, ignore: tuple[str, ...] = ()) -> Rows:
    # A file that was written anew is read anew.
    return _read(source, target, regression, ignore, os.stat(source).st_mtime_ns if target is not None else 0)


@functools.lru_cache(maxsize=4)
def _read(source: str, target: str | None, regression: bool | None, ignore: tuple[str, ...], written: int) -> Rows:
    if target is None:
        return list(getattr(river_datasets, source)())
    rows: Rows = []
    encoder = files.OneHotStrings()
    with files.Reader(source) as reader:
        for line in reader:
            if line.error:
                raise ValueError(f"line {line.number} of {source} {line.error}")
            if line.note or target not in line.record:
                continue
            x: Features = {name: value for name, value in line.record.items() if name not in (target, *ignore)}
            encoder.learn_one(x)
            rows.append((x, line.record[target]))
    if not rows:
        raise ValueError(f"no row of {source} has a target {target!r}")
    classes = sorted({y for _, y in rows}, key=str) if regression is False else []
    # River's linear classifiers tell True from False, and nothing else.
    name = {y: y == classes[1] for y in classes} if len(classes) == 2 else {}
    return [(encoder.transform_one(x), name.get(y, y)) for x, y in rows]
