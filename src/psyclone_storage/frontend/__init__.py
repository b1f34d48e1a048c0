"""Text in, parsed forms out.

The front ends know languages; what is said in them means nothing here.
"""
