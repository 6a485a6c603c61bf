"""The journey of the main line, from a stack to two finished jobs: played by `make demo` on the local cloud and by
`make verify-cloud` on a real project."""
