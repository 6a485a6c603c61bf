"""Scheduling: a job's submission, queues, placement, reservations, and the thread that moves all jobs on."""
