"""Transformation steps for schedules: pure functions of immutable trees."""
