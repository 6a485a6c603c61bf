"""The nouns and the tables, without a wire: machines, prices, capacity types, kinds of jobs, clusters, the catalog.

Frozen dataclasses and pure functions. A table stands here once, and all floors above read it: the fields of a cluster
(`slipway.model.cluster_fields`), the service's rules (`slipway.model.rules`), the kinds of findings
(`slipway.model.findings.kinds`). Imports `slipway.base`. Begin with `slipway.model.cluster`: what a stack declares, and
`slipway.model.catalog.model`: what it publishes for those who submit.
"""
