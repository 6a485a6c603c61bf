"""Clients of the APIs: one authorised REST session and a thin typed client per service.

Nothing here decides, prints or reads a clock that a caller can't set. Every client is synchronous and may be shared by
threads. Start with `slipway.cloud.connection.connect`.
"""
