"""Given files to records: what is wrong with a file is told with its place, all of it at once."""
