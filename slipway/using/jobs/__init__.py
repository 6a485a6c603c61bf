"""Jobs: what a job asks of a cluster and whether it can start, why it waits, what it wrote, used and cost."""
