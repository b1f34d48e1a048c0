"""The commands: what their options mean, what they write and how they report."""
