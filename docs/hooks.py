"""What must happen to a page so that it needs nothing from anywhere else?

Mathematics becomes MathML when the site is built, which browsers draw without a script. Notes of docstrings, written
as River writes them, become raised numbers. A mean and its deviation stay on one line.
"""

from __future__ import annotations

import html
import re
import typing

from latex2mathml.converter import convert

_MATH = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
# What the converter takes for names are relations, and names of functions stand off from what follows them.
_RELATION = re.compile(r"<mi>(&#x0(?:2AAF|227C|227A);)</mi>")
_FUNCTION = re.compile(r"(<m[io]>(?:ln|log|exp|max|min)</m[io]>)(?=<m(?:i|n|frac|sub|sup|sqrt)>)")
_NOTE = re.compile(r"(<p>|\n)?\[\^(\d+)\](: *)?")


def on_page_content(content: str, **_: typing.Any) -> str:
    """Called by mkdocs with the body of each page."""
    return _NOTE.sub(_note, _MATH.sub(_math, content)).replace(" ± ", "\u00a0±\u00a0")


def _math(found: re.Match[str]) -> str:
    tag, latex = found.groups()
    formula = convert(html.unescape(latex), display="inline" if tag == "span" else "block")
    formula = _RELATION.sub(r"<mo>\1</mo>", formula)
    formula = _FUNCTION.sub(r'\1<mspace width="0.17em"></mspace>', formula)
    return formula if tag == "span" else f'<div class="formula">{formula}</div>'


def _note(found: re.Match[str]) -> str:
    before, number, is_text = found.groups()
    new_line = "<br>" if is_text and before == "\n" else ""
    return f"{before or ''}{new_line}<sup>{number}</sup>{' ' if is_text else ''}"
