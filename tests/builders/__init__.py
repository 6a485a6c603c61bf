"""Small things with sensible defaults, so that a test names only its subject: one for each of Slipway's classes.

A builder is called as its class: `pools.pool_spec` makes a PoolSpec, `clusters.cluster` the catalog's Cluster,
`clusters.persistent_resource` the cloud's. All are of the stack, project and region of `place`, and of its time.
"""
