"""Sections of the report, one module each. `section(data)` returns None if there is no content."""
