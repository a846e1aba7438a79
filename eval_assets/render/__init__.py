"""Tables, plots and texts for the terminal, HTML, Markdown and the UI."""
