"""The coherent buffer: replicas, validity, locks and access tokens, independent of the facades."""
