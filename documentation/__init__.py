"""The generated pages of the documentation; `python -m documentation` writes them."""
