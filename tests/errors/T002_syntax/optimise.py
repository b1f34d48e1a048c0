def trans(psy)
    print(psy.view())
