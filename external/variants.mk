# Included by the makefiles: in a checkout, write the files that follow from templates if one is missing
# or older than a template. A wheel contains these files, and no templates.

STALE := $(shell find .. \( -name '*.t90' -o -name variants.py \) -newer ../.gitignore 2>&1; \
  { cd .. && ls $$(sed 's,^/,,' .gitignore); } 2>&1 >/dev/null)
ifneq ($(STALE),)
ifneq ($(shell python3 ../variants.py && echo written),written)
$(error python3 ../variants.py has not written the files that follow from templates)
endif
endif
