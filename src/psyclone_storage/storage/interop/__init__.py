"""Own the protocols by which other libraries' arrays come in and ours go out."""
