"""Agreement measured on stored ratings: of humans, of judges, of both, as gates judge it."""
