"""The report: figures to sentences and tables, and those to HTML and Markdown.

`data` is what it is made from, `sections` what it says, `_content` in which order; `_document`
has the parts that sections are built of, and `html` and `markdown` write each of them.
"""
