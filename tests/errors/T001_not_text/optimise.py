def trans(psy):
    print('é')
