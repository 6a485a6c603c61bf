"""Clusters before and after, their machines, and the jobs that need them."""
