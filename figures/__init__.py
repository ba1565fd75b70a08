"""Figures: a module with NAME, TITLE, data() and draw() is one; a new file is a new figure."""
