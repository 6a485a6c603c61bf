"""A Pulumi provider for the few Google Cloud types that Slipway declares, for a cloud on this machine only."""

VERSION = "10.2.0"
"""The pulumi-gcp release whose behaviour this provider shows."""
