"""Own coherent storage for host and devices; refuse to know anything about compilers."""
