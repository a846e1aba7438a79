"""The report's sections, one module each: `section(data)` returns it, None if it says nothing."""
