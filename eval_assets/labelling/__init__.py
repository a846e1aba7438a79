"""How people label: who labels what, what they see, and sessions that lose nothing."""
