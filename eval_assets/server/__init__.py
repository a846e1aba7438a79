"""Pages and endpoints of `eval-assets serve`, and the pages that work without it."""
