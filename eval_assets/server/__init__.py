"""Pages and endpoints of `eval-assets serve`, and the offline labelling pages."""
