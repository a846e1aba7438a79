"""The judges' prompt and the templates that ship."""
