"""When was each feature there, in files without any target?"""

from __future__ import annotations

import pathlib
import typing
from collections.abc import Callable

from .. import files
from ..plot.record import Presence, Series, Timeline
from ..recovery.evolution import Event
from ..recovery.spaces import FeatureSpaces
from ..values import Key
from . import show
from .columns import check_columns
from .figures import Picture, draw
from .interrupts import Interrupts
from .samples import Row, Samples


class Survey:
    """The features of a stream: when each was there, and which spaces they form."""

    def __init__(self) -> None:
        self.record, self.spaces = Presence(), FeatureSpaces()
        self.times, self.timeline, self.suspects = Series(200), Timeline(), files.Suspects()
        #: First and last time of each feature, as long as it has a row in the record.
        self.seen: dict[Key, tuple[typing.Any, typing.Any]] = {}
        self.opened: dict[int, typing.Any] = {}
        self._event: Event | None = None

    def update(self, row: Row) -> None:
        """Take a sample into account."""
        x: dict[Key, float] = dict.fromkeys(row.x, 1.0)
        self.suspects.update(row.x)
        self.record.update(x)
        self.spaces.advance(x)
        events = self.spaces.events
        if events and events[-1] is not self._event:
            fresh = [event for event in events if event.round == self.spaces.rounds - 1]
            self._event = events[-1]
            for event in fresh:
                self.timeline.add(event)
            if row.when is not None:
                self.opened[self.spaces.rounds - 1] = row.when
                known = {space.opened_at for space in self.spaces.spaces}
                self.opened = {at: when for at, when in self.opened.items() if at in known}
        if row.when is not None:
            self.times.add(self.record.rounds - 1, row.when)
            for key in x:
                self.seen[key] = (self.seen[key][0] if key in self.seen else row.when, row.when)
            if len(self.seen) > 2 * self.record.max_keys:
                self.seen = {key: self.seen[key] for key in self.record.keys if key in self.seen}


def show_spaces(
    opened: Callable[[], tuple[files.Reader, Samples]],
    on_error: str = "stop",
    figure: pathlib.Path | None = None,
    most: int = 40,
) -> int:
    """Read files, and show their features and feature spaces; returns the exit code."""
    if figure is not None:
        show.check_figure(figure)
    out, err = show.open_console(), show.open_console(stderr=True)
    survey = Survey()
    n_bad = code = 0
    with Interrupts() as interrupts:
        try:
            # Opening waits for the first line of a pipe, so it can be interrupted as well.
            reader, samples = opened()
            with reader, show.progress_bar(err) as bar:
                check_columns(reader, samples.columns)
                task = bar.add_task(pathlib.PurePath(reader.name).name, total=reader.size, detail="")
                for row in samples:
                    if row.error:
                        if not row.line:
                            raise show.RunError(row.error)
                        n_bad += 1
                        show.say(err, f"{row.place}: {row.error}", "red")
                        if on_error == "stop":
                            raise show.RunError("Stopped there (see --on-error).")
                    elif row.note:
                        show.say(out, f"{row.place if row.line else ''} {row.note}".strip())
                    else:
                        with interrupts.held():
                            survey.update(row)
                        if survey.record.rounds % 200 == 0:
                            bar.update(task, completed=reader.position, detail=f"{survey.record.rounds:,} samples")
        except KeyboardInterrupt:
            code = 128 + interrupts.received
            show.say(err, "Interrupted.", "yellow")
        except (show.RunError, files.FileError) as error:
            code = 1
            show.say(err, str(error), "red")
        interrupts.ignore()
    record = survey.record
    if record.rounds:
        out.print(show.strips(record, survey.spaces.vanished, out, most, survey.seen))
        out.print(show.spaces_table(survey.spaces.spaces, times=survey.opened if survey.times else None))
        for suspect in survey.suspects.found:
            show.say(err, show.doubt(suspect), "yellow")
    show.say(out, f"\n{show.count(record.rounds, 'sample')}" + (f"; {show.count(n_bad, 'bad line')}" if n_bad else ""))
    if figure is not None and record.rounds:
        draw(figure, Picture(record, survey.spaces, times=survey.times, timeline=survey.timeline))
        show.say(out, f"Saved {figure}")
    return code or int(n_bad > 0 and not record.rounds) or (show.SKIPPED if n_bad else 0)
