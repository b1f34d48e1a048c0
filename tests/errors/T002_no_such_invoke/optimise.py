def trans(psy):
    schedule = psy.invokes.get("invoke_advect").schedule
    print(schedule.view())
