"""Recordings of GPUs that a scenario plays, and what makes one."""
