# Rules of GNU Make for psyclone-storage.
#
#   include $(shell psyclone-storage --make-dir)/psyclone_storage.mk
#   $(eval $(call psyclone-storage-rules,source,out))
#
# make out/<name>.f90, out/<name>_psy.f90 and out/<name>_kernels.F90 of source/<name>.x90. The last one
# holds the kernels that the script has changed. A file is written only where its text changes,
# so that only what has changed is compiled; the command runs again when anything has changed that
# it has read, modules of the script and settings included.
#
#   PSYCLONE_STORAGE          the command
#   PSYCLONE_STORAGE_FLAGS    its options, such as -d kernels -s optimise.py
#   PSYCLONE_STORAGE_NEEDS    what else makes it run again, such as the makefile with the options
#   PSYCLONE_STORAGE_KERNELS  the folder of changed kernels (default: kernels in the first 'out'); the
#                             number of a kernel depends on the path of its PSy layer from there

PSYCLONE_STORAGE ?= psyclone-storage
PSYCLONE_STORAGE_FLAGS ?=
PSYCLONE_STORAGE_NEEDS ?=

# $(1) is the folder of the algorithms, $(2) that of what is generated. The command touches a stamp,
# for its outputs keep their times; an output that was removed makes it run again.
define psyclone-storage-rules
PSYCLONE_STORAGE_KERNELS ?= $(2)/kernels

$(2)/%.stamp: $(1)/%.x90 $$(PSYCLONE_STORAGE_NEEDS)
	$$(PSYCLONE_STORAGE) $$(PSYCLONE_STORAGE_FLAGS) -oalg $(2)/$$*.f90 -opsy $(2)/$$*_psy.f90 \
	    -okern $$(PSYCLONE_STORAGE_KERNELS) --kernel-renaming layer --gather-kernels $(2)/$$*_kernels.F90 \
	    --depfile $$@.d --stamp $$@ $$<

$(2)/%.f90 $(2)/%_psy.f90 $(2)/%_kernels.F90: $(2)/%.stamp
	@test -f $(2)/$$*.f90 -a -f $(2)/$$*_psy.f90 -a -f $(2)/$$*_kernels.F90 || \
	    { rm -f $$< && $$(MAKE) --no-print-directory $$<; }

.PRECIOUS: $(2)/%.stamp $(2)/%.f90 $(2)/%_psy.f90 $(2)/%_kernels.F90

# The first rule of the makefile stays its goal.
psyclone-storage-goal := $$(.DEFAULT_GOAL)
-include $$(wildcard $(2)/*.stamp.d)
.DEFAULT_GOAL := $$(psyclone-storage-goal)
endef
