"""The arena: federations whose optimum is known, and how far algorithms stay from it."""
