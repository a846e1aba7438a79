"""What vendors speak: their wire formats, batches, lists of models, and servers like them."""
