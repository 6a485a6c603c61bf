"""Who gets machines: queues, placement, reservations, and the thread that moves all jobs on."""
