"""Submitting: parameters, candidates, verdict, and sending exactly one job. Deciding is pure; `sender` alone sends."""
