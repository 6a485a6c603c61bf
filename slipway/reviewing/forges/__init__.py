"""The forge: the place of a repository, its changes and its issues, as a CI job reads and writes them."""
