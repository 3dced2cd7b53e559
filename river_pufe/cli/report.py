"""What does a report on a run say, on one page that needs no network?"""

from __future__ import annotations

import base64
import html
import pathlib
import typing
from collections.abc import Iterable, Mapping, Sequence

from .. import files
from ..plot.record import Series
from . import figures, show
from .session import Session

_SENSORS = 500

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.6rem; }} h2 {{ font-size: 1.2rem; margin-top: 2.2rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .8rem; text-align: left; vertical-align: top; border-bottom: 1px solid #8884; }}
td.number, th.number {{ text-align: right; }}
th, td {{ overflow-wrap: normal; white-space: nowrap; }}
td.list {{ white-space: normal; min-width: 12rem; }}
img {{ width: 100%; min-width: 46rem; height: auto; background: white; border-radius: 4px; }}
.bar {{ display: inline-block; height: .7em; background: #0072B2; vertical-align: baseline; }}
.note {{ opacity: .75; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def write_report(
    path: pathlib.Path,
    session: Session,
    names: Sequence[str],
    times: Series,
    moments: Mapping[int, typing.Any],
    remarks: Sequence[str],
    suspects: Sequence[files.Suspect],
) -> None:
    """Write a page with pictures, metrics, spaces, events and a table of the features.

    Parameters
    ----------
    path
        File to write.
    session
        The model, and what was noted about it.
    names
        Names of the files that were read.
    times
        Times of some rounds.
    moments
        Times of the rounds in which spaces opened, and of the latest events.
    remarks
        What is worth telling about the samples.
    suspects
        Values that may stand for absent ones.

    """
    title = f"{session.target}: {', '.join(pathlib.PurePath(name).name for name in names)}"
    image = base64.b64encode(figures.as_bytes(session.notes.picture(session.model, times))).decode()
    alt = "When each key was there, the metric over time, and what the predictions rely on."
    parts = [f"<p>{html.escape('; '.join(remarks))}.</p>"]
    if session.tables:
        head = f"Progressive validation of {show.count(session.judge.scores.n, 'sample')}"
        tables = session.tables
        metrics = list(dict.fromkeys(name for table in tables.values() for name in table))
        rows = [(name, *(table.get(name, "-") for table in tables.values())) for name in metrics]
        parts += [_section(head, _table(("metric", *tables), rows, right=range(1, 1 + len(tables))))]
        parts += ['<p class="note">Each sample was predicted before it was learned.</p>']
    parts += [f'<div class="wide"><img alt="{alt}" src="data:image/png;base64,{image}"></div>']
    heads, cells = show.spaces_rows(session.model.spaces, moments if times else None)
    parts += [_section("Feature spaces", _table(heads, cells, right=(0,)))]
    parts += [_features(session, times)]
    if suspects:
        found = [(str(s.key), str(files.whole(s.value)), f"{s.share:.1%}") for s in suspects]
        parts += [
            _section("Values that may stand for absent ones", _table(("feature", "value", "share"), found, (1, 2)))
        ]
    parts += [_events(session, moments if times else {})]
    with show.replacing(path) as file:
        file.write(_PAGE.format(title=html.escape(title), body="\n".join(parts)).encode("utf-8", "replace"))


def _features(session: Session, times: Series) -> str:
    known = list(times)
    record, gone = session.notes.record, set(session.model.vanished)
    n_rounds = max(record.rounds - record.start, 1)
    rows = []
    for key in record.keys[:_SENSORS]:
        first, last, n = record.seen(key)
        left, width = (first - record.start) / n_rounds, (last + 1 - first) / n_rounds
        bar = f'<span class="bar" style="margin-left:{6 * left:.2f}rem;width:{6 * width:.2f}rem"></span>'
        share = f"{n / (record.rounds - first):.0%}"
        span = [_about(round_, known) for round_ in (first, last)]
        rows.append((str(key), _Html(bar), *span, share, "vanished" if key in gone else ""))
    n_others = len(record.keys) - len(rows) + record.n_others
    note = f'<p class="note">… and {n_others:,} more.</p>' if n_others else ""
    heads = ("first seen about", "last seen about") if known else ("first round", "last round")
    table = _table(("feature", "alive", *heads, "present", ""), rows, right=(4,) if known else (2, 3, 4))
    return _section("Features", table + note)


def _about(round_: int, times: Sequence[tuple[int, typing.Any]]) -> str:
    """The known time that is nearest to a round; without any, the round."""
    if not times:
        return f"{round_:,}"
    return str(min(times, key=lambda known: abs(known[0] - round_))[1])


def _events(session: Session, moments: Mapping[int, typing.Any]) -> str:
    events = session.model.events
    heads = ["round", *(["time"] if moments else []), "what", "features"]
    rows = [
        [
            f"{event.round:,}",
            *([str(moments.get(event.round, ""))] if moments else []),
            event.kind,
            show.shorten(event.keys, 12) + event.aside,
        ]
        for event in reversed(events)
    ]
    return _section(f"The latest {show.count(len(rows), 'event')}", _table(heads, rows, right=(0,)))


class _Html(str):
    """What is HTML already."""


def _section(title: str, content: str) -> str:
    return f'<h2>{html.escape(title)}</h2>\n<div class="wide">{content}</div>'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    kinds = [' class="number"' if i in set(right) else "" for i in range(len(heads))]
    lines = ["".join(f"<th{kind}>{html.escape(head)}</th>" for kind, head in zip(kinds, heads))]
    for row in rows:
        cells = (cell if isinstance(cell, _Html) else html.escape(cell) for cell in row)
        wide = [kind or (' class="list"' if ", " in cell else "") for kind, cell in zip(kinds, row)]
        lines.append("".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(wide, cells)))
    return "<table>" + "\n".join(f"<tr>{line}</tr>" for line in lines) + "</table>"
