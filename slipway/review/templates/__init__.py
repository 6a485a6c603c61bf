"""Templates before and after: parameters, offers, and every difference of what is posted."""
