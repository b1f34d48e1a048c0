"""LFRic domain: function spaces, kernel metadata, built-ins, argument order, halo rules."""
