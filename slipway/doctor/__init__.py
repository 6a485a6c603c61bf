"""Finds what is wrong with a stack, and what mends it: a frozen picture of its regions in, findings out; and drift."""
