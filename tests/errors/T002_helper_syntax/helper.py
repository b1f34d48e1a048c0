def show(psy):
    print(psy.view()
