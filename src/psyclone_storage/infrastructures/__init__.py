"""Facts about infrastructures, in one table each: what exists, by what name, and of which type.

No policy and no language: `domain`, `backend`, `config`, `transform` and `scripting` read the same
rows. Names of members and procedures that generated code calls are the back end's.
"""
