"""What solvers on densities share, whatever the scheme."""
