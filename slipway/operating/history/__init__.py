"""The history of a stack: jobs, deployments and live machines of the past, and what follows from them."""
