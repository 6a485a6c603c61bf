"""How hypothesis runs here: without deadlines, because a test that is slow on a busy machine shows nothing."""

from hypothesis import settings

settings.register_profile("slipway", deadline=None)
settings.load_profile("slipway")
