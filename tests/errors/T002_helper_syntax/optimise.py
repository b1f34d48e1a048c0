import helper


def trans(psy):
    helper.show(psy)
