"""The vocabulary of Python programs: kernels, invokes, metadata words and annotations.

This package compiles nothing. A program that only imports its kernels needs no compiler.
"""
