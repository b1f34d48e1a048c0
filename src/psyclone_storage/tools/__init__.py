"""Tools in addition to compilation: stubs, translators, device checks and reports."""
