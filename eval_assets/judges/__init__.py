"""LLM judges: prompts, model requests, and parsing of replies."""
