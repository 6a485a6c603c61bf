"""Google's APIs over REST: one authorised session, a thin typed client for each service, and what lives as read once.

Every client is synchronous, may be shared by threads, prints nothing and reads no clock that a caller can't set. What
can't be read is an `Unknown` with its reason (`slipway.google.live`), never an empty list. `slipway.google.quota` tells
what is drawn and left, `slipway.google.catalog` reads and writes the published document. Imports `slipway.model` and
`slipway.base`. Begin with `slipway.google.connection.connect`, then `slipway.google.snapshot.read`.
"""
