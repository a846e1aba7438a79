"""Rating patterns as a count of sorted rating tuples, which tests can write down."""

from collections import Counter

from eval_assets.stats import RatingPatterns


def counted(patterns: RatingPatterns) -> Counter[tuple[float, ...]]:
    """Return how many units show each pattern, a pattern being its ratings in ascending order."""
    entries = zip(patterns.pattern, patterns.code, patterns.count, strict=True)
    ratings: dict[int, list[float]] = {}
    for pattern, code, count in entries:
        ratings.setdefault(int(pattern), []).extend([float(patterns.values[code])] * int(count))
    return Counter({tuple(ratings[place]): int(n) for place, n in enumerate(patterns.n_units)})
