"""Print what each invoke exchanges, and why."""

from psyclone_storage.scripting import HaloExchange, KernelCall, Loop


def trans(psy):
    for invoke in psy.invokes.invoke_list:
        schedule = invoke.schedule
        print(f"{invoke.name}: {len(schedule.walk(Loop))} loops")
        for call in schedule.walk(KernelCall):
            loop = call.ancestor(Loop)
            print(f"  {call.name} over {loop.reach} {loop.over}")
        for exchange in schedule.walk(HaloExchange):
            test = "if dirty" if exchange.guarded else "always"
            print(f"  {exchange.field}, depth {exchange.depth}, {test}:")
            for reason in exchange.reasons:
                print(f"    {reason}")
