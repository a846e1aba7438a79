"""Times as files write them, turned into UTC."""

from datetime import UTC, datetime


def in_utc(text: str) -> str | None:
    """An ISO 8601 time in UTC; a time that names no zone is taken to be UTC.

    Returns:
        The time as text ending in Z; None where `text` is no such time.

    Examples:
        >>> in_utc("2026-11-21T06:00:00+02:00")
        '2026-11-21T04:00:00Z'
        >>> in_utc("yesterday") is None
        True
    """
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC).isoformat()[:-6] + "Z"
    except (ValueError, OverflowError):
        return None
