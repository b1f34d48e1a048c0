def transform(psyir):
    pass
