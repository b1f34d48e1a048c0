"""The meaning of what was parsed, domain by domain. No language is known here."""
