"""The offline rules of a contract: registry, schema subsets, calls, digests, qualification, projection. Pure."""
