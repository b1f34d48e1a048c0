def trnas(psy):
    print(psy.view())
