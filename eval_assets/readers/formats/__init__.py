"""Files of rows in any format, to tables of cells."""
