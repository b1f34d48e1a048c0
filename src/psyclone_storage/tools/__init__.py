"""Tools around the compilation: stubs, translators, device checks and reports."""
