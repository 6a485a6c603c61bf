"""Cloud Monitoring: what jobs use of their machines, and what of each quota is in use."""
