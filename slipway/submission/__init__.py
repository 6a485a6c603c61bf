"""Submitting: parameters, candidates, the choice, exactly one job sent, and how to go on when it has ended.

Deciding is pure; `sender` alone sends.
"""
