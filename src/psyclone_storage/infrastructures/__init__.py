"""Tables of infrastructure properties: entities, their names, and their types.

The tables contain no policies and no language-specific data. The layers `domains`, `targets`,
`config`, `transform` and `scripting` use the same tables. Names of members and procedures in
generated code are defined in `targets`.
"""
