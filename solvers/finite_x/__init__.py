"""What solvers on a finite X share, whatever the scheme."""
