"""Formats of vendors: their wire formats, batches, lists of models, and servers like them."""
