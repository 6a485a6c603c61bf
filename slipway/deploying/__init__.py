"""The decisions of a deployment: the current generation of each cluster, and which are made, kept, retired or deleted.

`slipway.deploying.deployment.plan` decides, purely; `slipway.deploying.creation` waits for machines;
`slipway.deploying.engine` reads what Pulumi's engine says it will do. Components declare what is decided here. Imports
`slipway.authoring` and the floors below, never `slipway.using`. Begin with
`slipway.deploying.deployment.deployment.plan_deployment`.
"""
