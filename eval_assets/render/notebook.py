"""Tables and lists as HTML that needs no style sheet, for notebooks."""

from collections.abc import Sequence

from markupsafe import Markup

from eval_assets.render.document import Cell, Column, Table


def html_table(table: Table) -> Markup:
    """Return a table with its label as the caption; intervals stand behind their figures."""
    header = Markup().join(Markup("<th>{}</th>").format(column.name) for column in table.columns)
    rows = [
        Markup("<tr>{}</tr>").format(Markup().join(map(_cell, row.cells, table.columns)))
        for row in table.rows
    ]
    return Markup(
        "<table><caption>{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table>"
    ).format(table.label, header, Markup().join(rows))


def html_list(texts: Sequence[str]) -> Markup:
    """Return texts as a list; nothing without texts."""
    items = Markup().join(Markup("<li>{}</li>").format(text) for text in texts)
    return Markup("<ul>{}</ul>").format(items) if texts else Markup()


def _cell(cell: Cell, column: Column) -> Markup:
    side = "right" if column.is_number else "left"
    text = f"{cell.text} ({cell.note})" if cell.note else cell.text
    return Markup('<td style="text-align:{}">{}</td>').format(side, text)
