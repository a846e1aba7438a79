"""LLM raters: what they are asked, how they are called, and what their replies mean."""
