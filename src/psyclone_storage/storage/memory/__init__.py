"""Own the memories behind the memory spaces and the ways between them."""
