"""Generations of a cluster: the current one, what becomes of the others, and what may not be done to one. Pure."""
