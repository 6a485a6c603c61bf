"""Resources beside clusters: buckets, accounts, grants, and unknown types."""
