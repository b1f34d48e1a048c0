"""Constants."""

AA = 2.0
