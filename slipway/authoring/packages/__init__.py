"""A job's code as a Python source distribution that the training service installs: same sources, same bytes.

Every replica of such a job starts `slipway_launcher` first. It and the other modules called slipway_… are copied into
each package and run inside training images, hence: standard library only, and nothing newer than Python 3.8.
"""
