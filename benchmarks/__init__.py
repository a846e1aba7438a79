"""What the project costs in time and memory, beside its peers in the same run."""
