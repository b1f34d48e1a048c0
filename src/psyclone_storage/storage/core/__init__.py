"""The coherent buffer: replicas, validity, locks, tokens. It knows no face."""
