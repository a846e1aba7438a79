"""Gates: minimum agreement of humans and judges before judges may be tuned."""
