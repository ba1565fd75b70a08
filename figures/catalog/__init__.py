"""The figures, a file each: NAME, TITLE, data(), draw()."""
