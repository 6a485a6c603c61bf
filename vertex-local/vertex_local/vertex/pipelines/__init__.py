"""Training pipelines: a custom or tuning job, and the model made by it."""
