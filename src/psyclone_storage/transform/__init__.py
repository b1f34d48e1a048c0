"""Steps that turn one schedule into another. Each is a pure function of frozen trees."""
