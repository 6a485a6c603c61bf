"""What is wrong with a stack and what mends it: a frozen picture of its region in, findings out; and drift."""
