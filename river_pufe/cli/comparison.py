"""How do the methods of the paper do on my data?"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from rich.markdown import Markdown

from .. import compare
from . import show
from .interrupts import Interrupts


def comparison(
    data: Sequence[str] = (),
    csv: Sequence[pathlib.Path] = (),
    target: str | None = None,
    ignore: Sequence[str] = (),
    fesl: Sequence[pathlib.Path] = (),
    overlap: int = 20,
    runs: int = 10,
    seed: int = 0,
    grid: bool = False,
    jobs: int = 1,
    out: pathlib.Path | None = None,
) -> int:
    """Run the paper's experiment, print its table, and save it with its figure; returns the exit code."""
    if csv and target is None:
        raise show.UsageError("--csv needs --target: which column is it?")
    if out is not None:
        show.check_figure(out / "trend.png")
        if out.exists() and not out.is_dir():
            raise show.UsageError(f"{out} is not a directory")
    console, err = show.open_console(), show.open_console(stderr=True)
    played = []
    with Interrupts() as interrupts:
        try:
            chosen = [compare.load(name) for name in data or ([] if csv or fesl else ["Phishing"])]
            chosen += [compare.load(path, target, ignore=ignore) for path in csv]
            chosen += [compare.load(path) for path in fesl]
            with show.progress_bar(err) as bar:
                for one in chosen:
                    task = bar.add_task(one.name, total=None, detail="")

                    def progress(done: int, total: int, task: int = task) -> None:
                        bar.update(task, completed=done, total=total, detail=f"{done} of {total} games")  # type: ignore[arg-type]

                    played.append(compare.run(one, None, ("P", "U"), overlap, runs, seed, grid, jobs, progress))
        except KeyboardInterrupt:
            show.say(err, "Interrupted; nothing is saved.", "yellow")
            return 128 + interrupts.received
        except ValueError as error:
            raise show.UsageError(str(error)) from None
        interrupts.ignore()
        table = f"{compare.to_markdown(played)}\n{compare.significance(played)}"
        if console.is_terminal:
            console.print(Markdown(table))
        else:
            show.say(console, table)
        if out is not None:
            for path in compare.save(played, out):
                show.say(console, f"Saved {path}")
    return 0
