"""Pages and endpoints of `eval-assets serve`."""
