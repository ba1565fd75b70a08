"""Pictures: one module a figure or table, each data() then draw()."""
