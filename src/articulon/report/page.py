"""HTML pages in one file, without external fonts, pictures or scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from articulon import __version__

STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1.25rem 4rem; color: #1a1a1a; background: #fff;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 0.25rem; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 0.6rem; padding-bottom: 0.2rem; border-bottom: 1px solid #d9d9d9; }
p { max-width: 46rem; }
.lead { color: #555; margin-top: 0; }
.callout { border-left: 4px solid #0072b2; background: #f3f8fb; padding: 0.6rem 1rem; margin: 1rem 0; }
.callout.trusted { border-color: #009e73; background: #f1faf6; }
.callout.suspect, .callout.inconclusive { border-color: #e69f00; background: #fdf8ee; }
.callout.violated { border-color: #d55e00; background: #fdf3ee; }
.callout p { margin: 0.2rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.92rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.28rem 1.1rem 0.28rem 0; border-bottom: 1px solid #ececec; vertical-align: top; }
thead th { border-bottom: 1px solid #999; font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: 400; color: #444; }
td.number, th.number { text-align: right; white-space: nowrap; }
tr.reference > * { background: #f6f6f6; }
figure { margin: 1.4rem 0; }
figure svg { display: block; width: 100%; max-width: 46rem; height: auto; }
.replay iframe { display: block; width: 100%; max-width: 46rem; height: 26rem; border: 1px solid #d9d9d9; }
.replay p { font-size: 0.88rem; color: #444; margin-top: 0.3rem; }
figcaption { font-size: 0.88rem; color: #444; max-width: 46rem; margin-top: 0.3rem; }
li { max-width: 46rem; margin: 0.3rem 0; }
small, .small { font-size: 0.85rem; color: #555; }
pre { font-size: 0.8rem; line-height: 1.4; overflow-x: auto; background: #f7f7f7; padding: 0.8rem; }
@media print { body { font-size: 11pt; max-width: none; } figure { break-inside: avoid; }
  details, .replay { display: none; } }
"""


def document(title: str, lead: str, parts: Iterable[str]) -> str:
    """Return the whole page; ``parts`` are HTML."""
    body = "\n".join(part for part in parts if part)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="articulon {__version__}">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{escape(title)}</h1>\n<p class="lead">{escape(lead)}</p>\n{body}\n</main>\n</body>\n</html>\n'
    )


def section(heading: str, *parts: str) -> str:
    """Return a section; empty if all its parts are empty."""
    content = "\n".join(part for part in parts if part)
    return f"<section>\n<h2>{escape(heading)}</h2>\n{content}\n</section>" if content else ""


def callout(kind: str, *sentences: str) -> str:
    """Return a highlighted box; ``kind`` is a verdict, which sets its colour."""
    return f'<div class="callout {escape(kind)}">\n{paragraphs(sentences)}\n</div>'


def paragraphs(texts: Iterable[str]) -> str:
    """Return a paragraph for each text."""
    return "\n".join(f"<p>{escape(text)}</p>" for text in texts if text)


def items(texts: Sequence[str]) -> str:
    """Return a list of sentences."""
    return "<ul>\n" + "\n".join(f"<li>{escape(text)}</li>" for text in texts) + "\n</ul>" if texts else ""


def definitions(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of names and values."""
    body = "\n".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>' for name, value in rows if value
    )
    return f"<table>\n<tbody>\n{body}\n</tbody>\n</table>" if body else ""


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    marked: Sequence[int] = (),
    links: Sequence[str | None] = (),
) -> str:
    """Return a table with a heading above each column; all columns except the first contain numbers.

    Parameters
    ----------
    heads
        Headings.
    rows
        Texts of the cells, row by row.
    marked
        Rows that are highlighted.
    links
        Link of each row's first cell, relative to the page's folder, or None.
    """
    head = "".join(
        f'<th scope="col"{_number(k)}>{escape(text).replace(chr(10), "<br>")}</th>' for k, text in enumerate(heads)
    )
    lines = []
    for r, row in enumerate(rows):
        link = links[r] if r < len(links) else None
        first = escape(row[0]) if link is None else f'<a href="{escape(link)}">{escape(row[0])}</a>'
        cells = "".join(f"<td{_number(k)}>{escape(text)}</td>" for k, text in enumerate(row[1:], start=1))
        kind = ' class="reference"' if r in marked else ""
        lines.append(f'<tr{kind}><th scope="row">{first}</th>{cells}</tr>')
    body = "\n".join(lines)
    return f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def prose_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of texts, with a heading above each column."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    lines = [
        f'<tr><th scope="row">{escape(row[0])}</th>' + "".join(f"<td>{escape(text)}</td>" for text in row[1:]) + "</tr>"
        for row in rows
    ]
    body = "\n".join(lines)
    return f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def _number(column: int) -> str:
    return ' class="number"' if column else ""


def figure(name: str, drawing: str, caption: str) -> str:
    """Return a figure, drawn as ``<svg>``, with its caption; ``name`` is its id on the page."""
    image = drawing.replace("<svg", f'<svg role="img" aria-label="{escape(caption)}"', 1)
    return f'<figure id="{escape(name)}">\n{image}\n<figcaption>{escape(caption)}</figcaption>\n</figure>'


def details(summary: str, text: str) -> str:
    """Return text that the reader can unfold."""
    return f"<details>\n<summary>{escape(summary)}</summary>\n<pre>{escape(text)}</pre>\n</details>"
