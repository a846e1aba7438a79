"""Cost of the project in time and memory, compared with peers in the same run."""
