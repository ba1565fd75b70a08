"""The report on the claims: one page of HTML, Markdown and JSON."""
