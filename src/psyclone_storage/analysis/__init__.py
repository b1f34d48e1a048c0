"""Questions about a schedule, answered by pure functions: plans, edges, reasons, proofs."""
