"""Compute Engine, of which the advice on machines alone is served."""
