"""Hyperparameter tuning jobs: a study's search, and its trials as custom jobs."""
