"""The resource types."""
