"""Planning and checking of halo exchanges, host-device transfers and storage accesses."""
