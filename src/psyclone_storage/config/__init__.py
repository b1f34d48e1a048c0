"""Settings: find, read and check `psyclone.cfg`, independent of their use."""
