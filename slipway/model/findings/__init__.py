"""Findings: one `Finding` for the doctor, drift, reviews, policy and quota."""
