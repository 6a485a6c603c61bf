"""Recordings of GPUs that a scenario plays."""
