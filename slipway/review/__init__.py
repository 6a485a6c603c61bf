"""The review of a change before it is made: a comparison of the deployed and the declared stack, by jobs, capacity,
money, people and data."""
