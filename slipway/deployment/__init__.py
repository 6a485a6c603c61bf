"""A deployment: its commit, the decisions about clusters, and how these are told and carried out."""
