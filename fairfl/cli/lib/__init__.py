"""What the commands share: options, messages, progress, runs."""
