"""Python with NumPy: whole arrays at a time, to be read, and run without a compiler."""
