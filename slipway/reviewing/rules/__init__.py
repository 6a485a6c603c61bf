"""Rules: what follows from each difference of a change, for whom, and how grave it is."""
