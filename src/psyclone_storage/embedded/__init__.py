"""What programs in Python are written with: kernels that are kept and read, words of metadata.

Nothing here compiles. A program that only imports its kernels needs no compiler.
"""
