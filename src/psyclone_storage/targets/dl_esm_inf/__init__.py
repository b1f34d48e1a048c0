"""From a schedule for GOcean to calls of dl_esm_inf.

All spellings come from `backend.gocean.abi`, but for the paths to what a grid holds, which the
settings give.
"""
