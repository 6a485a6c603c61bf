"""A deployment: its commit, the decisions about clusters, and how these are reported and carried out."""
