"""Submitting: parameters, candidates, the choice, exactly one job sent, and the ways on after its end.

Decisions are pure; `sender` alone sends.
"""
