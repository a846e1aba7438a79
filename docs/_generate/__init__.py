"""The generated pages of the documentation; `python -m docs._generate` writes them."""
