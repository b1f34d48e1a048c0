"""Settings: `psyclone.cfg` is found, read and checked here, independently of its use."""
