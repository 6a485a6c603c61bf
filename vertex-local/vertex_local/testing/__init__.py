"""Local clouds for tests: real processes, and services that are called without a network."""
