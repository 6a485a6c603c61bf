"""The catalog as an object of a bucket: its JSON read and written, what must hold in it, and which one is read."""
