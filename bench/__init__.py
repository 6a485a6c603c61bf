"""The bars of the product, each measured against the plain way of doing the same: `python -m bench`."""
