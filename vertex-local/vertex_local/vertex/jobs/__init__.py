"""Custom jobs: their rules, their life, and their processes."""
