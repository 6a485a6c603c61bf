"""Submitting: parameters, way, verdict, and sending exactly one job. Deciding is pure; `sending` alone talks."""
