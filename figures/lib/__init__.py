"""What figures share: style, saving, panels, the registry."""
