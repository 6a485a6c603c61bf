"""What happened on a stack: jobs, deployments and live machines of the past, and what follows from them."""
