"""The texts that people write, read and proven: the stack file, job templates, the code of jobs, a team's own rules.

Everything that is wrong with a text is told with its file, line and key, before anything is deployed. A template is
proven against the pools that it may use and compiled to the request that the catalog publishes. Imports
`slipway.google` and the floors below. Begin with `slipway.authoring.stack.stack` for a stack file, with
`slipway.authoring.template.job_template` for a template.
"""
