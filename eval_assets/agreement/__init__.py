"""Agreement of humans and judges, measured on stored ratings, and the gates on it."""
