def trans(psy):
    for invoke in psy.invokes.invoke_list:
        first = invoke.schedule.children[7]
        print(first)
