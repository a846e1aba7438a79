"""What people see: sentences, numbers, rows and next steps, and their renderers."""
