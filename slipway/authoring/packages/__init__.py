"""A job's code as a Python source distribution that the training service installs: same sources, same bytes.

Every replica of such a job starts `slipway_launcher` first. It is copied into each package, so it stands alone.
"""
