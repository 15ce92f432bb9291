"""What `assay doctor` tells of a server: pure functions from step results to checks, and the one that asks."""
