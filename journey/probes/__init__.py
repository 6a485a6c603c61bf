"""Questions that Google's documents leave open, answered by a real project: a file for each family of probes."""
