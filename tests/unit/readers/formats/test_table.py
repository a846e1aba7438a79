"""Tables as columns: which rows are kept."""

import numpy as np

from eval_assets.readers.formats.table import Column, Table


def test_rows_are_kept_with_their_lines_whatever_holds_their_cells() -> None:
    model = Column(["m", "n"], np.array([0, 1, 0]))
    table = Table.of("scores.csv", {"model": model, "score": [1, 2, None]}, lines=[2, 3, 5])

    kept = table.take(np.array([0, 2]))

    assert {name: list(cells) for name, cells in kept.columns.items()} == {
        "model": ["m", "m"],
        "score": [1, None],
    }
    assert list(kept.lines) == [2, 5]
    assert isinstance(kept.columns["model"], Column)
