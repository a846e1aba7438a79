"""Alert messages and the channels that send them."""
