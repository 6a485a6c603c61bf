"""The model registry: models, their versions and aliases."""
