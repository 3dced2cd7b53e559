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


def beside(what, means, rivals, best=max, digits=3):
    """A row that puts the mean of PUFE beside those of the best rival and of the better of River's models."""

    def best_of(names):
        name = best(names, key=means.__getitem__)
        return f"{means[name]:.{digits}f} ({name})"

    rivals = [name for name in rivals if means[name] == means[name]]
    return [what, f"{means['PUFE']:.{digits}f}", best_of(rivals), best_of(("River SGD", "River AdaGrad"))]


def fill_index(out, name, rows):
    """Put rows of `beside` onto the page about all rivals."""
    heads = ["mean over the rows of", "PUFE", "best rival", "better of River's two"]
    fill(out / "rivals" / "index.md", name, table(heads, rows))


def together(texts, between="/"):
    """Figures that stay on one line, however narrow the page."""
    return f"\u00a0{between}\u00a0".join(texts)


def bold(text, is_bold):
    return f"**{text}**" if is_bold else text
