"""Answers: closed forms, duals, linear programmes, frontiers and their certificates."""
