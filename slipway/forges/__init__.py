"""The forge: the place of a repository, its changes and its issues, as a job of its CI asks and writes it."""
