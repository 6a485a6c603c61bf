"""A Pulumi provider for the few Google Cloud types that Slipway declares, for a cloud on this machine only."""

from pathlib import Path

VERSION = "10.2.0"
"""The pulumi-gcp release whose behaviour this provider shows."""


def install(pulumi_home: Path, python: Path) -> Path:
    """Put the plugin that SLIPWAY_GCP_PLUGIN names (unset: this one) into a Pulumi home; see `installation`."""
    from local.plugin import installation

    return installation.install(pulumi_home, python)
