"""Which generation of a cluster is current, what becomes of the others, and what may not be done to one. Pure."""
