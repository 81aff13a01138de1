# SPDX-License-Identifier: MIT
#
# sim.mk - builds and runs the simulator; the Makefile includes it.
#
#   make sim SEEDS=1000 FROM=1   runs whole clients under faults, 1000 seeds
#   make sim SEEDS=2000 MARKS=1  also fails if a mark was never passed
#   make sim SECONDS=60          runs as many seeds as there is time for
#   make sim SEED=42 TRACE=1     runs one seed, and prints each event
#   make mutants ONLY=4          checks that the mutants 4… are found
#   make sim-hash                records the hash of the runs of check-generated

SIM       = $(filter-out %_test.c,$(wildcard tests/sim/*.c))
SIM_OBJ   = $(SIM:%.c=$(O)/%.o)
SIM_WORDS = $(foreach v,SEEDS FROM SECONDS SEED TRACE KEEP PRESET WORK SALT \
              MARKS EACH PLANT EXPECT F,$(if $(filter command% environment%,\
                           $(origin $v)),$v=$($v)))

# The simulator is linked with the two amalgamated files, as users compile them.
# Other targets check their warnings.
SIM_LIB   = $(O)/sim_relet.o $(O)/sim_relet_local.o

# The simulator calls private functions of src/driver/put_wait.h, so they are
# visible here.
$(O)/sim_relet.o: SIM_INSIDE = -DRELET_PRIVATE=

$(SIM_LIB): $(O)/sim_%.o: $(DIST)/%.c $(DIST)/%.h $(DIST)/relet.h
	@mkdir -p $(@D)
	@$(SAY) "  CC  $<"
	$(Q)$(COMPILE) -w $(SIM_INSIDE) -c -o $@ $<

$(SIM_OBJ): $(O)/%.o: %.c Makefile tests/sim/sim.mk
	@mkdir -p $(@D)
	@$(SAY) "  CC  $<"
	$(Q)$(COMPILE) $(DEPEND) -Iinclude $(INSIDES) -Itests/sim -c -o $@ $<

$(O)/sim: $(SIM_OBJ) $(SIM_LIB)
	@$(SAY) "  LD  $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

sim: $(O)/sim
	@$(RUN) $(O)/sim $(SIM_WORDS)

# The unit tests of the simulator run with the suite; so do some seeds, in every
# flavour.
SIM_TESTS = $(patsubst %.c,$(O)/%,$(wildcard tests/sim/*_test.c))

$(SIM_TESTS): $(O)/tests/sim/%_test: tests/sim/%_test.c \
              $(O)/tests/sim/%.o tests/sim/sim.mk | greatest
	@mkdir -p $(@D)
	@$(SAY) "  LD  $@"
	$(Q)$(COMPILE) -Wno-conversion -Wno-sign-conversion $(DEPEND) -Itests/sim \
	    -isystem $(GREATEST_DIR) -o $@ $< $(O)/tests/sim/$*.o

# Objects of the unit tests that mutants name: a mutant is linked to its test.
UNIT_OBJ = $(addprefix build/unit/,$(addsuffix .o,$(shell \
             sed -n 's/^test: *\([^ ]*\).*/\1/p' tests/sim/mutants/*.patch | \
             sort -u)))

build/unit/%.o: tests/%.c tests/sim/sim.mk | greatest
	@mkdir -p $(@D)
	@$(SAY) "  CC  $<"
	$(Q)$(CC) $(STD) -O0 -w -DGREATEST_USE_LONGJMP=0 $(DEPEND) -Iinclude \
	    $(INSIDES) -Itests -Itests/engine -isystem $(GREATEST_DIR) -c -o $@ $<

mutants: build/librelet.a build/tools/pack $(SIM_OBJ)
	@$(MAKE) -s mutant-units
	@JOBS=$(JOBS) sh tests/sim/mutants.sh "$(CC)" "$(CFLAGS)" "$(INSIDES)" \
	    $(SIM_OBJ)

mutant-units:
	@$(MAKE) -s $(UNIT_OBJ)

sim-hash: build/sim
	@sh tests/sim/hash.sh >tests/sim/hash.txt
	@cat tests/sim/hash.txt

.PHONY: sim sim-hash mutants mutant-units

# The fuzzer of the simulator is linked with the same two amalgamated files.
SIM_FUZZ = $(O)/fuzz/sim_fuzz

$(SIM_FUZZ): fuzz/sim_fuzz.c $(O)/fuzz/replay.o $(SIM_OBJ) $(SIM_LIB) \
             tests/sim/sim.mk
	@mkdir -p $(@D)
	@$(SAY) "  LD  $@"
	$(Q)$(COMPILE) $(DEPEND) -Iinclude $(INSIDES) -Itests/sim -o $@ $< \
	    $(filter-out %/sim_main.o,$(SIM_OBJ)) $(SIM_LIB) \
	    $(if $(filter fuzz,$(F)),-fsanitize=fuzzer,$(O)/fuzz/replay.o) -lm

ifndef INSIDE
SIM_UNITS = $(SIM_TESTS)
endif

-include $(wildcard build/unit/*.d build/unit/engine/*.d $(O)/tests/sim/*.d \
                    $(O)/fuzz/sim_fuzz.d)
