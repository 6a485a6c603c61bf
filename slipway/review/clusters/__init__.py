"""Clusters before and after: what becomes of them, of their machines, and of the jobs that need them."""
