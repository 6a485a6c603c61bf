"""Answers of the product about a stack before and after a change, and their differences. Reads nothing."""
