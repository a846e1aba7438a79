"""Label files, in any of their forms, to human ratings."""
