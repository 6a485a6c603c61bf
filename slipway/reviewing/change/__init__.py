"""A change of one stack: both of its sides, its files, and what lives, as a review reads them."""
