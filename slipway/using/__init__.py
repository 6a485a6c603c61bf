"""The use of a deployed stack: submissions, sweeps, and the jobs that come of them.

A submission reads the catalog, judges the offers, sends one attempt, falls back to the next, and knows at each point
whether a job may exist already. Imports `slipway.authoring` and the floors below, never `slipway.deploying`: submitting
needs no Pulumi. Begin with `slipway.using.submission.submitter`, and with `slipway.using.jobs.verdict` for why a job
waits.
"""
