"""Text of a section, read from its blocks."""

from collections.abc import Iterator, Sequence

from eval_assets.render.document import Block, Bullets, Card, Fold, Section, Table, Text


def blocks_in(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield every block, also those within others."""
    for block in blocks:
        yield block
        if isinstance(block, Card | Fold):
            yield from blocks_in(block.blocks)


def cards(section: Section) -> dict[str, Card]:
    """Return the cards by title."""
    return {block.title: block for block in blocks_in(section.blocks) if isinstance(block, Card)}


def table(section: Section, label: str) -> list[dict[str, str]]:
    """Return the rows of the table of that label: the text of each cell by column."""
    [result] = [b for b in blocks_in(section.blocks) if isinstance(b, Table) and b.label == label]
    names = [column.name for column in result.columns]
    return [dict(zip(names, (c.text for c in row.cells), strict=False)) for row in result.rows]


def notes(section: Section, label: str) -> list[list[str]]:
    """Return the small print in the rows of that table."""
    [result] = [b for b in blocks_in(section.blocks) if isinstance(b, Table) and b.label == label]
    return [[cell.note for cell in row.cells] for row in result.rows]


def items(card: Card, heading: str) -> list[str]:
    """Return the items of a card's list of that heading; none if it has no such list."""
    return [
        item.text
        for block in blocks_in(card.blocks)
        if isinstance(block, Bullets) and block.heading == heading
        for item in block.items
    ]


def paragraphs(section: Section) -> list[str]:
    """Return the text of every paragraph."""
    return [block.text for block in blocks_in(section.blocks) if isinstance(block, Text)]
