"""The report: what was measured and what the gates say, for people."""
