"""Notebook representation of an object: a small HTML table that needs no further resources."""

from collections.abc import Mapping
from html import escape


def table_of_words(heading: str, rows: Mapping[str, str]) -> str:
    """Return the HTML text of a heading and a table with one row for each entry; entries without text are left out.

    Parameters
    ----------
    heading
        Heading in bold above the table.
    rows
        Texts by name; both are HTML-escaped.
    """
    body = "".join(
        f'<tr><th scope="row" style="text-align: left">{escape(name)}</th>'
        f'<td style="text-align: left">{escape(text)}</td></tr>'
        for name, text in rows.items()
        if text
    )
    return f"<div><strong>{escape(heading)}</strong><table><tbody>{body}</tbody></table></div>"


def counted(count: int, one: str, many: str) -> str:
    """Return a number and its noun, such as "3 bodies"; empty for zero."""
    return f"{count} {one if count == 1 else many}" if count else ""
