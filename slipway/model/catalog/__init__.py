"""The catalog: the one JSON object in which `pulumi up` publishes the jobs that people may submit."""
