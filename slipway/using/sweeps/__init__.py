"""Sweeps: one template submitted for each of many points, each run exactly once, at the rate the service permits."""
