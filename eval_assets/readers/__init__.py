"""Given files to records: every bad place is reported with file, line and remedy, all at once."""
