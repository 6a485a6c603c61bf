"""The quota check: pure rules on limits, live machines and jobs for a stack's declaration."""
