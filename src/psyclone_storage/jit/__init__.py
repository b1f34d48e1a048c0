"""Run-time compilation of Python programs: invokes are compiled on first call and cached."""
