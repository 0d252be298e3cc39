"""Equations as MathML, which browsers draw by themselves: pages need no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util.math import get_node_equation_number


def _inline(visitor: Any, node: Any) -> None:
    visitor.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _displayed(visitor: Any, node: Any) -> None:
    style = "margin: 1em 0; overflow-x: auto"
    visitor.body.append(visitor.starttag(node, "div", CLASS="math notranslate", STYLE=style))
    if node["number"]:
        number = get_node_equation_number(visitor, node)
        visitor.body.append(f'<span class="eqno">({number})')
        visitor.add_permalink_ref(node, "Link to this equation")
        visitor.body.append("</span>")
    visitor.body.append(convert(node.astext(), display="block"))
    visitor.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """See Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
