"""Base class of profiles, which print as a table and convert to a data frame."""

import math
from typing import TYPE_CHECKING

from eval_assets.stats.intervals import Interval

if TYPE_CHECKING:
    import pandas as pd


class Profile:
    """Several figures of the same ratings."""

    def rows(self) -> list[tuple[str, float, float, float, str, int, int]]:
        """Return figure, value, low, high, method, n_units and n_groups of each interval."""
        return [
            (name, i.value, i.low, i.high, i.method or "", i.n_units, i.n_groups)
            for name, i in vars(self).items()
            if isinstance(i, Interval)
        ]

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with a row for each figure: value, low, high, method and counts.

        Raises:
            ImportError: If pandas is not installed.
        """
        import pandas as pd

        names = ["figure", "value", "low", "high", "method", "n_units", "n_groups"]
        return pd.DataFrame(self.rows(), columns=names).set_index("figure")

    def __str__(self) -> str:
        rows = self.rows()
        width = max(len(name) for name, *_ in rows)
        lines = [f"{'':{width}}    value      low     high"]
        for name, *figures, _, _, _ in rows:
            cells = ("-" if math.isnan(figure) else f"{figure:.3f}" for figure in figures)
            lines.append(f"{name:{width}}" + "".join(f"{cell:>9}" for cell in cells))
        return "\n".join(lines)
