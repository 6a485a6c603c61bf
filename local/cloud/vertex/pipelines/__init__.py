"""Training pipelines: a custom or tuning job, and the model that it leaves."""
