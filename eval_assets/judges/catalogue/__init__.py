"""Models by name: capabilities, prices, families and lifecycle."""
