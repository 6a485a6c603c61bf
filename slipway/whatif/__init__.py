"""What if: a stack's past jobs replayed on other pools. Waits, dollars, and what could never have run."""
