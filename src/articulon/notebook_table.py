"""What a notebook shows of a thing: a small table of words, without anything to load."""

from collections.abc import Mapping
from html import escape


def table_of_words(heading: str, rows: Mapping[str, str]) -> str:
    """HTML of a heading and of what belongs to it, a row each; rows without a text are left out.

    Parameters
    ----------
    heading
        In bold above the table.
    rows
        Texts by name; both are escaped.
    """
    body = "".join(
        f'<tr><th scope="row" style="text-align: left">{escape(name)}</th>'
        f'<td style="text-align: left">{escape(text)}</td></tr>'
        for name, text in rows.items()
        if text
    )
    return f"<div><strong>{escape(heading)}</strong><table><tbody>{body}</tbody></table></div>"


def counted(count: int, one: str, many: str) -> str:
    """How many there are, in words; empty for none."""
    return f"{count} {one if count == 1 else many}" if count else ""
