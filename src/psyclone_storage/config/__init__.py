"""Settings: find, read and check `psyclone.cfg`; nothing here knows what a setting is used for."""
