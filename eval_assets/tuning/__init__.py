"""Judge tuning: what is tuned is never measured on what it was tuned on."""
