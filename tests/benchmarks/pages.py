"""How does a figure come from a benchmark onto a page?"""

from __future__ import annotations

import argparse
import os
import pathlib
import re

from river_pufe.compare.table import markdown_table


def parser(about, runs=10):
    """Options that the benchmarks share."""
    parser = argparse.ArgumentParser(description=about.split("\n")[0])
    parser.add_argument("--data", type=pathlib.Path, help="folder with fesl/, haphazard/, wifi_swap/ and ecb_fx/")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs"), help="folder of the page")
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of processes")
    return parser


def table(head, rows):
    return markdown_table(head, [list(map(str, row)) for row in rows])


def write(out, name, **values):
    """Fill the template of a page, in which @NAME@ stands for a value; sections that lack one are left out."""
    text = pathlib.Path(__file__).with_name(f"{name}.md.in").read_text()
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    (out / f"{name}.md").write_text("".join(part for part in sections if not re.search(r"@[A-Z_]+@", part)))


def fill(path, name, text):
    """Put figures between the marks of their name on a page, `<!-- name -->` and `<!-- end -->`."""
    page, n = re.subn(rf"(<!-- {name} -->\n).*?(<!-- end -->)", rf"\1\n{text}\n\n\2", path.read_text(), flags=re.DOTALL)
    if n != 1:
        raise ValueError(f"{path} has {n} places for the figures {name!r}")
    path.write_text(page)


def together(texts, between="/"):
    """Figures that stay on one line, however narrow the page."""
    return f"\u00a0{between}\u00a0".join(texts)


def bold(text, is_bold):
    return f"**{text}**" if is_bold else text
