"""The command `vertex-local`: what a person types."""
