"""Judge tuning on train and dev, and held-out tests that tuning never reads."""
