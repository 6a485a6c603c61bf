"""Findings about edited files, which no other part of the product judges."""
