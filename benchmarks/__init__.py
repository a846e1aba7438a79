"""Cost of the project in time and memory, beside its peers in the same run."""
