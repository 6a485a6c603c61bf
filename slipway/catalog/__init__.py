"""The catalog: the one JSON object in which `pulumi up` publishes what people may submit."""
