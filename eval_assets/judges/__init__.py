"""LLM raters: prompts, model requests, and reading what a reply means."""
