"""Findings: one `Finding` for the doctor, drift, reviews, policy, quota and notices."""
