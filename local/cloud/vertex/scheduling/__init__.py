"""Who gets machines: how a job gets in, queues, placement, reservations, and the thread that moves all jobs on."""
