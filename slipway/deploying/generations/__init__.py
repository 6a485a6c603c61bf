"""Generations of a cluster: the current one, the fate of the others, and the forbidden changes. Pure."""
