"""What to do about a diagnostic that says nothing better itself, by its code.

A message with a hint of its own knows more of the case; what stands here holds for every case of a
code. It is said where there is no hint, and on the page of the code in the documentation.
"""

from __future__ import annotations

from psyclone_storage.base.diagnostic import Diagnostic

_DEFECT = "This is a defect of this tool: report it with the files that led to it."

CURES: dict[str, str] = {
    "C004": "Give a value of the kind that the message asks for, or leave the key out.",
    "G001": "Reduce in a kind that has a reduction, and convert the result.",
    "I001": _DEFECT,
    "L003": "Give a place that can be written, where no folder has the file's name.",
    "L004": "Look at the permissions, and at the space that is left on the disk.",
    "L006": "Name a file with one kernel, or choose one of several by its name.",
    "L011": "Mend what the compiler names; '-I' tells it where modules are.",
    "L012": "Look whether the compiler is right; '--warnings error' takes it for an error.",
    "L016": "Leave the option out.",
    "L017": "Install what is missing: pip install 'psyclone-storage[report]'.",
    "M001": "Give the entry the constructor that this component holds.",
    "M007": "Write the number of dimensions as a positive literal, as in 'NRANKS*2'.",
    "M008": "Take away what is too many.",
    "M019": "Ask for each function once.",
    "M024": "List each shape once.",
    "M027": "Pass a real field, or do what needs the integers in a kernel of its own.",
    "M028": "Pass single fields without a stencil; what needs more goes into a kernel of its own.",
    "M030": "Give one field that is read, on the space that the operator maps from, and one that"
    " is written, on the space that it maps to.",
    "M031": "Write the other arguments in a kernel of its own.",
    "M040": "List each property once.",
    "M202": "Declare the argument as the metadata describe it.",
    "P001": "Check the name of the file, and the folder from which the command runs.",
    "P005": "Write the 'end' statement where the unit ends.",
    "P006": "Take the statement away, or open what it is to close.",
    "P007": "Count the brackets of the invoke, and look whether all its lines but the last end with"
    " '&'.",
    "P008": "Mend the declaration: what stands here has to be an expression.",
    "P009": "A name begins with a letter; behind 'only:' stand names, with commas between.",
    "P011": "Close the string with the character that opened it, or end the line with '&'.",
    "P013": "Give it to the Fortran compiler as it is, if that is meant; else write an invoke.",
    "P014": "Mend the statement: what is generated would not compile.",
    "P022": "Keep one 'name=...' of the invoke.",
    "P024": "Give the invoke a shorter name with 'name=...'.",
    "P029": "Write a Fortran expression, or take a comma too many away.",
    "P042": "Give the entries in one array constructor.",
    "P043": "Declare it as a scalar, or give it a list of values.",
    "P044": "Complete the entry: behind '*' stands a number.",
    "P048": "Move the subroutine into the module of its kernel.",
    "P050": "Mend the syntax at this place.",
    "P055": "Write 'invoke(...)' on a line of its own; results come back in its arguments.",
    "S002": "Give a depth that leaves room for the stencil.",
    "S003": "Name a statement that stands directly in the schedule.",
    "S005": "Move one of them beside the other first.",
    "S006": "Name two loops.",
    "S007": "Give both loops the same bounds, as with 'compute-redundantly', or leave them apart.",
    "S008": "Leave the loops apart, or let the settings fix the bounds.",
    "S009": "Leave the loops apart: each value has to be whole before it is read.",
    "S014": "Leave the loop to one thread, or change another one; a kernel that looks at what it"
    " wrote can be written with two fields.",
    "S103": "Pass a variable, for the result is stored in it.",
    "S104": "Store the value in a variable, and pass that.",
    "S105": "Pass what the metadata ask for, or change the metadata if the kernel takes this.",
    "S106": "Pass as many as the metadata ask for: one element of the array, or all of it.",
    "S108": "Pass an integer variable or literal that is large enough.",
    "S116": "Let storages keep all data, or none.",
    "T001": "Check the name of the script, and that it is a text of Python in UTF-8.",
    "T002": "Mend the script at this line; '--traceback' shows all calls of Python.",
    "T004": "Name a statement of the kind that is asked for: '--view' shows all names.",
    "T005": "Colour loops over cells only.",
    "T008": "Ask for nodes again after a step, or undo that step.",
    "T009": "Count the steps that the script has applied.",
    "T010": "Give '-dm', or leave the step out.",
    "T011": "Leave the loop as it is: only owned dofs count in a sum.",
    "T012": "Give a greater depth, or leave the step out.",
    "T015": "Look among PSyclone's transformations in the reference for what is supported.",
    "T016": "Choose another loop: '--view' shows which hold one another.",
    "T019": "Return from 'trans' instead, if code is to be written.",
    "T023": "Name neighbours, the first one first; 'move' brings statements together.",
    "T030": "Name an exchange that is still in one piece, or move this end.",
    "T032": "Leave the step out: this infrastructure exchanges in one call.",
    "T033": "Leave the exchange as it is, or move a loop that does not need it before its reader.",
    "T035": "Name an exchange that a step has moved or split.",
    "T041": "Give the option a value that it takes: the reference of steps lists them.",
    "T050": "Leave the built-in out: its statements stand in the loop already.",
    "T052": "Take the statement out of the kernel, or leave the kernel out of this step.",
    "T053": "Pass the variable as an argument ('imports-to-arguments'), or leave the kernel out.",
    "T054": "Leave the step out: it is done.",
    "T056": "Move what it uses into a module that the kernel imports.",
    "T057": "Give another value: the reference of steps says what each option takes.",
    "T058": "Leave the kernel out of this step.",
    "T060": "Declare what is used with its type and extents, and give all arguments one kind.",
    "T063": "Choose loops whose bounds do not depend on one another.",
    "T064": "Count the loops in the text of the kernel, from 1.",
    "T065": "Leave the call as it is; 'inline-kernel-module' brings the kernel's module along.",
    "T067": "Leave the step out: there is nothing to do.",
    "T068": "Leave the bounds where they are.",
    "T069": "Pass the components that are needed as arguments of their own.",
    "T082": "Leave the step out: it is done, or not needed.",
    "T084": "Give a smaller number, or no clause that contradicts another.",
    "T085": "Put loops on the device first, or leave the step out.",
    "T087": "Leave the loop to the host.",
    "T088": "Name data that are used here, or leave the step out.",
    "T089": "Put nothing beside it in the region, or leave the region out.",
    **dict.fromkeys((f"V{number:03}" for number in range(1, 20)), _DEFECT),
}


def cure_of(problem: Diagnostic) -> str:
    """Return what to do about `problem`: its own hint, or what holds for its code."""
    return problem.hint or CURES.get(problem.code, "")
