"""What is known of models by name: capabilities, prices, families and lifecycle."""
