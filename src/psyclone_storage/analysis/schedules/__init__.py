"""Analyses of schedules: coherence of halos and devices, dependences, order."""
