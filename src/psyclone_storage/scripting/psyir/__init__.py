"""PSyclone's tree of a file without an API: live nodes over frozen statements."""
