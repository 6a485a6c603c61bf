"""A job's code as a Python source distribution that the training service installs: same sources, same bytes."""

from slipway.packages.source_package import SourcePackage, assemble, build, is_packed, requirement_lines

__all__ = ["SourcePackage", "assemble", "build", "is_packed", "requirement_lines"]
