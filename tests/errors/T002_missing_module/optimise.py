from local_transformations import ColourEverything


def trans(psy):
    print(psy.view())
