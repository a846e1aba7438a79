"""Readers of input files. All problems are reported at once, with file, line and remedy."""
