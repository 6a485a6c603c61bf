"""The creation of a deployment's clusters, through scarcity and in place of their predecessors."""
