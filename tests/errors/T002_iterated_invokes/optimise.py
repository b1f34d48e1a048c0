def trans(psy):
    for invoke in psy.invokes:
        invoke.schedule.apply("fuse")
