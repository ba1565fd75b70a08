"""Pages of HTML, and the model card."""
