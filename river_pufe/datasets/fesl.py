"""How is a data set of the paper read?"""

from __future__ import annotations

import csv
import os
import pathlib
from collections.abc import Iterator

from river.datasets import base

from .cycle import Cycle, CycleStream
from .evolving import Features, require


class FESL(CycleStream, base.FileDataset):
    """A data set of FESL and PUFE, from a file.

    In the first half of the stream the previous features are seen, in the second half the current ones, which
    are the same samples through a random matrix, and for a while before the change both. With an
    unpredictable overlap it is the setting of PUFE[^1], and else that of FESL[^2], for which these files were
    made.

    **When to use it.** To compare with the figures of the papers, which are means over ten runs.

    The file is comma separated. Its header names the previous features `X1_…`, the current ones `X2_…`, the
    `label`, +1 or -1, and the orders of the rows `perm_1` to `perm_10`, counted from 1. The rows of a run are
    not in the order of the file, so the file is held in memory while it is iterated.

    Parameters
    ----------
    path
        Path of the file.
    run
        Which of the ten orders of the rows to use, from 1 to 10.
    overlap
        Rounds before the change in which previous and current features are seen.
    unpredictable
        Whether the previous features vanish one by one during the overlap.
    seed
        Random seed of the order in which they vanish, by default the run.

    Attributes
    ----------
    changes
        The round, counted from 0, from which on the previous features have gone, as a tuple.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from river_pufe import datasets

    We write a file of four samples, which are read backwards in the second run.

    >>> directory = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(directory.name, "tiny.csv")
    >>> _ = path.write_text('''X1_f1,X1_f2,X2_f1,label,perm_1,perm_2
    ... .1,.2,.3,1,1,4
    ... .4,.5,.9,-1,2,3
    ... .7,.1,.8,1,3,2
    ... .2,.3,.5,-1,4,1
    ... ''')

    >>> for x, y in datasets.FESL(path, run=2, overlap=1):
    ...     print(x, y)
    {'X1_f1': 0.2, 'X1_f2': 0.3} False
    {'X1_f2': 0.1, 'X2_f1': 0.8} True
    {'X2_f1': 0.9} False
    {'X2_f1': 0.3} True

    >>> directory.cleanup()

    References
    ----------
    [^1]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2021. Prediction with unpredictable feature evolution. IEEE
        Transactions on Neural Networks and Learning Systems.](https://arxiv.org/abs/1904.12171)
    [^2]: [Hou, B.J., Zhang, L. and Zhou, Z.H., 2017. Learning with feature evolvable streams. Advances in
        Neural Information Processing Systems,
        30.](https://papers.neurips.cc/paper/2017/hash/7634ea65a4e6d9041cfd3f7de18e334a-Abstract.html)

    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        run: int = 1,
        overlap: int = 20,
        unpredictable: bool = True,
        seed: int | None = None,
    ) -> None:
        require(run in range(1, 11), "run", "a whole number from 1 to 10", run)
        path = pathlib.Path(path)
        with path.open(newline="") as file:
            reader = csv.reader(file)
            names = next(reader, [])
            n_samples = sum(1 for _ in reader)
        n_features = [sum(name.startswith(prefix) for name in names) for prefix in ("X1_", "X2_")]
        require(
            all(n_features) and {"label", f"perm_{run}"}.issubset(names),
            "path",
            f"a file with columns X1_…, X2_…, label and perm_{run}",
            str(path),
        )
        super().__init__(  # type: ignore[no-untyped-call]
            filename=path.name,
            directory=path.parent,
            task=base.BINARY_CLF,
            n_features=sum(n_features),
            n_samples=n_samples,
            n_classes=2,
        )
        self.run = run
        self.overlap = overlap
        self.unpredictable = unpredictable
        self.seed = seed
        self.cycle = Cycle(overlap=overlap, unpredictable=unpredictable)
        self.changes = self.cycle.changes(self.n_samples)
        self._fix_seed(run if seed is None else seed)

    def _rounds(self) -> Iterator[tuple[list[Features], Features, bool]]:
        with self.path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        for number in [int(float(row[f"perm_{self.run}"])) for row in rows]:
            row = rows[number - 1]
            spaces = [
                {name: float(value) for name, value in row.items() if name.startswith(prefix)}
                for prefix in ("X1_", "X2_")
            ]
            yield spaces, {}, float(row["label"]) > 0
