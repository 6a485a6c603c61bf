"""What the engine would do to all other resources: buckets, accounts, grants, and types that nobody knows."""
