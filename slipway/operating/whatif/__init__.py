"""Replays of a stack's past jobs on other pools: waits, dollars, and what could never have run."""
