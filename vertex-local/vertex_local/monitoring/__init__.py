"""Cloud Monitoring: jobs' use of their machines, and the use of each quota."""
