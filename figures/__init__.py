"""Pictures: one module a figure or table, each data() then draw(); a file added here is a figure added."""
