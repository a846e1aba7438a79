"""Judge tuning on train and dev, and sealed tests that tuning never reads."""
