"""The forge: the place of a repository and its changes, as a CI job reads and writes them."""
