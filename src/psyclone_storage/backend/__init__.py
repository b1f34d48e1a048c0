"""From a schedule to text: lowering to a unit, tables of an infrastructure's names, printers.

A back end knows languages and infrastructures. It decides nothing about what a schedule does:
order, exchanges and bounds are all in the schedule that it is given.
"""
