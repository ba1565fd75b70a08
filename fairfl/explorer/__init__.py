"""The explorer: one offline HTML page that computes the schemes' frontiers in the browser."""
