# SPDX-License-Identifier: MIT
#
# faults.mk - builds the processes of the fault scenarios; the Makefile includes
# it. To run the scenarios:
#
#   tests/faults_test.sh        every scenario; tests/README.md has a table
#   tests/faults_test.sh T5     one scenario

FAULTS = $(patsubst %.c,$(O)/%,$(wildcard tests/faults/*.c))

$(FAULTS): $(O)/tests/faults/%: tests/faults/%.c $(LIB) tests/faults/faults.mk
	@mkdir -p $(@D)
	@$(SAY) "  LD  $@"
	$(Q)$(COMPILE) $(DEPEND) -Iinclude -o $@ $< $(LIB) -lm

faults: $(FAULTS)

.PHONY: faults

-include $(wildcard $(O)/tests/faults/*.d)
