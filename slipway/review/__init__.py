"""What a change does, to whom, before it does it: deployed and declared compared, in words of jobs, capacity, money,
people and data."""
