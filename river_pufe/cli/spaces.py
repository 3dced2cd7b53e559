"""Which keys were alive when, in a file without any label?"""

from __future__ import annotations

import pathlib
from collections.abc import Collection

from ..files import FileError, Reader
from ..plot.record import Presence, Series
from ..recovery.spaces import FeatureSpaces
from ..values import Key
from . import show
from .columns import check_columns
from .interrupts import Interrupts


def show_spaces(
    file: str,
    ignore: Collection[str] = (),
    time: str | None = None,
    na: Collection[str] = (),
    format: str | None = None,
    on_error: str = "stop",
    figure: pathlib.Path | None = None,
    most: int = 40,
) -> int:
    """Read a file, and show its keys and feature spaces; returns the exit code."""
    if figure is not None:
        show.check_figure(figure)
    out, err = show.open_console(), show.open_console(stderr=True)
    record, spaces, times = Presence(), FeatureSpaces(), Series(200)
    n_bad = code = 0
    with Interrupts() as interrupts:
        try:
            # Opening waits for the first line of a pipe, so it can be interrupted as well.
            with Reader(file, format, na) as reader, show.progress_bar(err) as bar:
                check_columns(reader, [time, *ignore])
                task = bar.add_task(pathlib.PurePath(reader.name).name, total=reader.size, detail="")
                for line in reader:
                    if line.error:
                        n_bad += 1
                        show.say(err, f"line {line.number}: {line.error}", "red")
                        if on_error == "stop":
                            raise show.RunError("Stopped there (see --on-error).")
                        continue
                    with interrupts.held():
                        when = line.record.pop(time, None) if time else None
                        x: dict[Key, float] = dict.fromkeys((name for name in line.record if name not in ignore), 1.0)
                        record.update(x)
                        spaces.advance(x)
                        if when is not None:
                            times.add(record.rounds - 1, when)
                    if record.rounds % 200 == 0:
                        bar.update(task, completed=reader.position, detail=f"{record.rounds:,} samples")
        except KeyboardInterrupt:
            code = 128 + interrupts.received
            show.say(err, "Interrupted.", "yellow")
        except (show.RunError, FileError) as error:
            code = 1
            show.say(err, str(error), "red")
        interrupts.ignore()
    if record.rounds:
        out.print(show.strips(record, spaces.vanished, out, most))
        out.print(show.spaces_table(spaces.spaces))
    show.say(out, f"\n{show.count(record.rounds, 'sample')}" + (f"; {show.count(n_bad, 'bad line')}" if n_bad else ""))
    if figure is not None and record.rounds:
        show.draw(figure, record, spaces, times=times)
        show.say(out, f"Saved {figure}")
    return code or int(n_bad > 0 and not record.rounds)
