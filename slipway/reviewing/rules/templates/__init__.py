"""Templates before and after: parameters, offers, and every difference of the posted request."""
