"""A job's code as a Python source distribution that the training service installs: same sources, same bytes."""

from slipway.package.build import SourcePackage, build

__all__ = ["SourcePackage", "build"]
