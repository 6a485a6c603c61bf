"""Resources beside clusters: buckets, accounts, grants, and types that nobody knows."""
