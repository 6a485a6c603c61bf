"""The service that answers what lives, for the tests of plans and of what is made."""

from tests.slipway.google.live_service import connection, environ, service  # noqa: F401 - fixtures
