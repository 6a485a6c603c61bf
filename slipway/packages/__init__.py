"""A job's code as a Python source distribution that the training service installs: same sources, same bytes.

`slipway_launcher` is what every replica of such a job starts first. It is copied into each package, so it stands alone.
"""
