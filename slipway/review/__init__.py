"""The review of a change before it is made: deployed and declared compared, in words of jobs, capacity, money, people
and data."""
