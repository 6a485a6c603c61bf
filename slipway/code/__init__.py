"""Code of one's own on a reviewed template: the working tree, packed as the template's package is."""
