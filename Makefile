# SPDX-License-Identifier: MIT
#
# relet. What a person needs:
#
#   make              librelet.a, librelet.so and the relet command, in build/;
#                     V=1 shows each command, WERROR=1 stops at warnings
#   make demo         see the client at work; needs cc and make, nothing else
#   make test         install what the tests need, then run every one of them
#   make quick        what to run before each commit; under a minute, without
#                     the slowest tests, the demo and the servers
#   make vectors      the RESP3 vectors; FILE=path for some of your own
#   make model        the local server against real ones; SEEDS=9 FROM=1
#   make sim SEEDS=1000  whole clients under faults; tests/sim/sim.mk says more
#   make mutants      break the client in named ways: each is found
#   make fuzz T=60    fuzz each harness for T seconds; ONLY=scan for one
#   make bench        side by side with hiredis, redis-benchmark and queues
#                     of npm, and the goals: met or missed
#   make dist         build/dist/relet.c and relet.h, the two files to vendor;
#                     PARTS="client driver lease": of these parts alone
#   make install      PREFIX=/usr/local DESTDIR=; make uninstall takes it back
#   make man          the manual pages in build/man: man -l build/man/man3/relet.3
#   make clean        everything in build/ but build/deps
#
# What is built with other flags or another compiler is a flavour, named by F,
# and lives in its own folder: make F=asan suite. tests/flavours.mk lists them.

# The rooms, lowest first: layer order, reading order, amalgamation order. The
# folders are the layers.
BASE   = text rand sha1 hashslot buf
RESP   = line tape scan value cmd
CONFIG = config parser config_url config_env config_check
LINK   = command_rules reader conn ending pubsub subscribe script handshake \
         session link deliver
ROUTE  = route
ENGINE = part lease elect job claims type_cursor reaper args step \
         held_steps claim_steps line_steps clean_steps worker
CLIENT = client kept submit wake lease_requests leases put complete team \
         workers queue answers dispatch loop
DRIVE  = clock watchset connect socket origin turn poll await put_wait
LAYERS = base resp config link route engine client driver
CORE   = $(BASE:%=base/%) $(RESP:%=resp/%) $(CONFIG:%=config/%) \
         $(LINK:%=link/%) $(ROUTE:%=route/%) $(ENGINE:%=engine/%) $(CLIENT:%=client/%)
DRIVER = $(DRIVE:%=driver/%)
ROOMS  = $(CORE) $(DRIVER)
INSIDES = $(LAYERS:%=-Isrc/%)

VERSION := $(shell sed -n 's/^.define RELET_VERSION "\(.*\)"/\1/p' \
                   include/relet.h)
# Before 1.0 a minor version may add fields to the structs of a program.
ABI     := $(shell echo $(VERSION) | sed 's/^\(0\.[0-9]*\|[1-9][0-9]*\)\..*/\1/')

# Where deps.sh found the tools of the tests: KEY=value, empty if missing.
-include build/deps/have.mk

CFLAGS ?= -O2 -g
STD    ?= -std=c99
# The tests set WERROR=1; who builds with another compiler only sees warnings.
WARN   ?= -Wall -Wextra -Wpedantic -Wconversion -Wshadow \
          $(if $(WERROR),-Werror)
STRICT  = -Wsign-conversion -Wcast-qual -Wstrict-prototypes \
          -Wmissing-prototypes -Wundef -Wvla -Wswitch-enum \
          -Wdouble-promotion -Wwrite-strings
DEPEND  = $(if $(filter tcc,$(F)),-MD -MF $@.d,-MMD -MP -MF $@.d -MT $@)

# A line for each file that is built; V=1: the whole command; make -s: nothing.
SAY = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),:,echo)
Q   = $(if $(V),,@)

include tests/flavours.mk

ifdef F
O       = build/$(F)
CC     := $(or $(CC.$(F)),$(CC))
CFLAGS := $(CFLAGS.$(F))
RUN    := $(RUN.$(F))
else
O       = build
HIDDEN  = -fPIC -fvisibility=hidden \
          -DRELET_API='__attribute__((visibility("default")))'
endif

# What the tests are linked to: the rooms one by one, or the amalgamation as
# one object with its inside visible, or as shipped: part of the test itself.
LIB = $(O)/librelet.a
ifneq ($(filter visible bench bench-musl,$(F)),)
LIB = $(O)/relet.o
endif
ifeq ($(F),shipped)
LIB =
INSIDE = -include build/dist/relet.c
endif
DIST = build/dist

# ------------------------------------------------------- library and command

OBJECTS     = $(ROOMS:%=$(O)/src/%.o) $(LOCAL_OBJECTS)
CLI_OBJECTS = $(patsubst %.c,$(O)/%.o,$(wildcard src/cli/*.c))
SO          = librelet.so.$(VERSION)
COMPILE     = $(CC) $(CPPFLAGS) $(STD) $(WARN) $(CFLAGS)
include src/local/local.mk
include tests/sim/sim.mk
include tests/faults/faults.mk

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all lib objects scripts dist demo vectors suite quick quick-suite hurried test fuzz \
        fuzzers bench bench-programs benches rooms driver \
        folders local-folders pure greatest man install uninstall clean \
        check-layers check-pure check-shape check-symbols quick-symbols \
        check-generated check-size check-stack \
        check-install check-readme check-programs \
        check-floors

all: $(O)/librelet.a $(O)/librelet.so $(O)/librelet.so.$(ABI) $(O)/relet
lib: $(O)/librelet.a
objects: $(OBJECTS)

$(O)/src/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	@$(SAY) "  CC  $<"
	$(Q)$(COMPILE) -DRELET_LOCAL $(HIDDEN) $(DEPEND) -Iinclude $(SEES) -c \
	    -o $@ $<

# A core room sees the layers, a room of the local server its own folders, and
# the command the public headers alone.
$(ROOMS:%=$(O)/src/%.o): SEES = $(INSIDES)
$(LOCAL_OBJECTS): SEES = $(LOCAL_INSIDES)

$(O)/librelet.a: $(OBJECTS)
	@rm -f $@
	@$(SAY) "  AR  $@"
	$(Q)$(AR) rcs $@ $^

$(O)/librelet.so: $(OBJECTS)
	@$(SAY) "  LD  $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,librelet.so.$(ABI) \
	    -o $@ $^

# The name by which a program that is linked to the library looks for it.
$(O)/librelet.so.$(ABI): $(O)/librelet.so
	@ln -sf librelet.so $@

$(O)/relet: $(CLI_OBJECTS) $(O)/librelet.a
	@$(SAY) "  LD  $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

demo: $(O)/relet
	@$(O)/relet demo

# ------------------------------------------------------------ amalgamation

SOURCES = src/base/base.h $(foreach r,$(ROOMS),\
            $(wildcard src/$r.h src/$r_text.inc) src/$r.c)

# Committed, so that a build needs no awk. The order of the files is that of
# rlt_own_script.
scripts: build/tools/pack
	LC_ALL=C awk -f tools/embed.awk $(sort $(wildcard lua/*.lua)) | $< \
	    >src/link/script_text.inc

build/tools/pack: tools/pack.c
	@mkdir -p $(@D)
	@$(SAY) "  LD  $@"
	$(Q)$(CC) $(STD) -O1 $(WARN) -o $@ $<

dist: $(DIST)/relet.c $(DIST)/relet.h
	@sh tools/parts.sh $(DIST) $(if $(filter dist,$(MAKECMDGOALS)),$(PARTS))

$(DIST)/relet.c: tools/amalgamate.sh include/relet.h $(SOURCES) LICENSE
	@mkdir -p $(@D)
	sh tools/amalgamate.sh $(VERSION) $(SOURCES) >$@

$(DIST)/%.h: include/%.h
	@mkdir -p $(@D)
	cp $< $@

$(O)/relet.o: $(DIST)/relet.c $(DIST)/relet.h
	@mkdir -p $(@D)
	@$(SAY) "  CC  $<"
	$(Q)$(COMPILE) -DRELET_PRIVATE= -c -o $@ $<

# ------------------------------------------------------------------- tests

TESTS    = $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/*_test.c))
REPLAYS  = $(patsubst %.c,$(O)/%,$(filter-out $(LOCAL_FUZZ),\
             $(wildcard fuzz/*_fuzz.c))) $(LOCAL_REPLAYS)
UNITS    = $(filter-out $(O)/tests/server_%,$(TESTS)) $(LOCAL_UNITS) \
           $(SIM_UNITS)
# greatest's own functions become part of a test, and convert as they like.
TESTING  = $(COMPILE) $(TESTFLAGS.$(F)) -Wno-conversion \
           -Wno-sign-conversion $(INSIDE) $(DEPEND) -Iinclude $(INSIDES) \
           -Itests -isystem $(GREATEST_DIR)

ifdef INSIDE
$(TESTS) $(REPLAYS): $(DIST)/relet.c $(DIST)/relet.h
endif

$(TESTS): $(O)/tests/%: tests/%.c $(LIB) Makefile
	@mkdir -p $(@D)
	@$(SAY) "  LD  $@"
	$(Q)$(TESTING) -o $@ $< $(LIB) -lpthread -lm

# A harness replays files, or is linked to libFuzzer, which has a main too.
REPLAY = $(if $(filter fuzz,$(F)),-fsanitize=fuzzer,$(O)/fuzz/replay.o)
$(O)/fuzz/%_fuzz: fuzz/%_fuzz.c $(O)/fuzz/replay.o $(LIB) Makefile
	@mkdir -p $(@D)
	@$(SAY) "  LD  $@"
	$(Q)$(TESTING) -o $@ $< $(REPLAY) $(LIB) -lpthread -lm

$(O)/fuzz/replay.o: fuzz/replay.c
	@mkdir -p $(@D)
	@$(SAY) "  CC  $<"
	$(Q)$(COMPILE) -c -o $@ $<

LDLIBS.tls_openssl = -lssl -lcrypto
LDLIBS.loop_uv = -luv
LDLIBS.threads = -lpthread
$(O)/examples/%: examples/%.c $(LIB) Makefile
	@mkdir -p $(@D)
	@$(SAY) "  LD  $@"
	$(Q)$(COMPILE) $(DEPEND) -Iinclude -o $@ $< $(LIB) $(LDLIBS.$*)

# Every unit test, the vectors and the fuzzers' corpora, in one flavour.
suite: $(UNITS) $(REPLAYS)
	@sh tests/suite.sh "$(RUN)" $(UNITS) $(REPLAYS)

vectors: $(O)/tests/vectors_test
	@$(RUN) $(O)/tests/vectors_test $(FILE)

$(filter-out %/vectors_test,$(TESTS)): | greatest
greatest:
	@[ -f "$(GREATEST_DIR)/greatest.h" ] || \
	    { echo "greatest.h is missing; run tests/deps.sh" >&2; exit 1; }

# The suite in one flavour, two programs at a time, and what is checked of the
# code. What takes longest of the suite, to build or to run, is left to
# `make test`.
JOBS ?= 2
UNHURRIED = tests/store/trouble_test tests/store/power_test \
            tests/store/kill_test tests/store/file_test \
            tests/local/starve_test tests/local/local_pool_test \
            tests/engine/queue_cut_test tests/connect_test \
            fuzz/sim_fuzz fuzz/local_fuzz
quick: dist
	@WERROR=1 $(MAKE) -s -j$(JOBS) -O quick-suite quick-symbols check-layers \
	    check-pure check-generated check-shape check-programs check-floors

quick-suite:
	@TEST_SECONDS=40 SUITE_JOBS=$(JOBS) $(MAKE) -s F=asan hurried

# The simulator is compiled, for its warnings; but few of its tests run here.
hurried: $(filter-out $(UNHURRIED:%=$(O)/%),$(UNITS) $(REPLAYS)) | $(SIM_OBJ)
	@sh tests/suite.sh "$(RUN)" $^

test:
	@sh tests/deps.sh
	@bash tests/all.sh

fuzz:
	@$(MAKE) -s F=fuzz fuzzers
	@sh tools/fuzz.sh "$(T)" "$(ONLY)"

fuzzers: $(if $(ONLY),$(O)/fuzz/$(ONLY)_fuzz,$(REPLAYS))

# --------------------------------------------------------------- benchmarks
#
# Each against hiredis in the same binary, both made with the same flags.

BENCHES = $(patsubst %.c,$(O)/%,$(wildcard tests/bench/*_bench.c))
HIREDIS = $(foreach f,alloc async hiredis net read sds sockcompat,\
            $(O)/hiredis/$f.o)

$(HIREDIS): $(O)/hiredis/%.o: $(HIREDIS_DIR)/%.c
	@mkdir -p $(@D)
	@$(SAY) "  CC  $<"
	$(Q)$(CC) $(CFLAGS) -w -c -o $@ $<

$(BENCHES): $(O)/tests/bench/%: tests/bench/%.c $(LIB) $(HIREDIS) Makefile
	@mkdir -p $(@D)
	@$(SAY) "  LD  $@"
	$(Q)$(TESTING) -Itests/bench -isystem $(HIREDIS_DIR) -o $@ $< $(LIB) \
	    $(HIREDIS) -lpthread -lm

benches: $(BENCHES)

# BENCH_QUICK=1 make bench: each for about a second, for its checks.
bench: bench-programs
	@bash tests/bench/run.sh

bench-programs: all dist build/release/tests/store/store_bench
	@$(MAKE) -s F=bench benches
	@[ -z "$(MUSL_GCC)" ] || $(MAKE) -s F=bench-musl benches
	@[ -z "$(MUSL_GCC)" ] || $(MAKE) -s F=small build/small/relet

# For scripts that measure or check rooms.
# folders: what a file sees of them, as flags of a compiler.
rooms driver folders local-folders:
	@echo $(ANSWER.$@)

ANSWER.rooms         = $(ROOMS)
ANSWER.driver        = $(DRIVER)
ANSWER.folders       = $(INSIDES)
ANSWER.local-folders = $(LOCAL_INSIDES)

# ------------------------------------------------------------------ checks

check-layers: pure
	@sh tools/check_layers.sh "$(DRIVER)" $(ROOMS)
	@sh tools/check_calls.sh $(ROOMS:%=build/pure/src/%.o)

pure:
	@$(MAKE) -s F=pure build/pure/relet

check-pure: pure
	@sh tools/check_pure.sh $(CORE:%=build/pure/src/%.o)

SYMBOLS = @sh tools/check_symbols.sh
check-symbols: all dist pure
	$(SYMBOLS) build/librelet.so $(OBJECTS:$(O)/%=build/pure/%)

quick-symbols: dist pure
	$(SYMBOLS) "" $(OBJECTS:$(O)/%=build/pure/%)

check-shape:
	@sh tools/check_shape.sh

check-generated: build/sim build/tools/pack
check-generated check-size check-stack: check-%: dist
	@sh tools/check_$*.sh

check-floors:
	@bash tests/floors.sh --check

check-programs:
	@bash tests/programs_test.sh

check-install check-readme: check-%: all
	@sh tests/$*_test.sh

# ----------------------------------------------------------------- install

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
MANDIR ?= $(PREFIX)/share/man
D       = $(DESTDIR)
COMPLETION = $(PREFIX)/share/bash-completion/completions

# The manual pages, those of section 3 from the headers.
man: build/man/list
build/man/list: tools/man.sh tools/man3.awk include/relet.h \
                include/relet_local.h $(wildcard packaging/man/*.1)
	@$(SAY) "  MAN build/man"
	$(Q)sh tools/man.sh $(VERSION) build/man

install: all man
	mkdir -p $(D)$(PREFIX)/include $(D)$(PREFIX)/bin $(D)$(LIBDIR)/pkgconfig \
	    $(D)$(MANDIR)/man1 $(D)$(MANDIR)/man3 $(D)$(COMPLETION)
	install -m 644 include/relet.h $(D)$(PREFIX)/include/relet.h
	install -m 644 build/librelet.a $(D)$(LIBDIR)/librelet.a
	install -m 755 build/librelet.so $(D)$(LIBDIR)/$(SO)
	ln -sf $(SO) $(D)$(LIBDIR)/librelet.so.$(ABI)
	ln -sf librelet.so.$(ABI) $(D)$(LIBDIR)/librelet.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	    -e 's|@VERSION@|$(VERSION)|' packaging/relet.pc.in \
	    >$(D)$(LIBDIR)/pkgconfig/relet.pc
	install -m 755 build/relet $(D)$(PREFIX)/bin/relet
	install -m 644 build/man/man1/*.1 $(D)$(MANDIR)/man1
	install -m 644 build/man/man3/*.3 $(D)$(MANDIR)/man3
	install -m 644 packaging/completion/relet.bash $(D)$(COMPLETION)/relet

uninstall: man
	rm -f $(D)$(PREFIX)/include/relet.h $(D)$(LIBDIR)/librelet.a \
	    $(D)$(LIBDIR)/$(SO) $(D)$(LIBDIR)/librelet.so.$(ABI) \
	    $(D)$(LIBDIR)/librelet.so $(D)$(LIBDIR)/pkgconfig/relet.pc \
	    $(D)$(PREFIX)/bin/relet $(D)$(COMPLETION)/relet
	sed 's|^|$(D)$(MANDIR)/|' build/man/list | xargs rm -f

clean:
	@if [ -d build ]; then \
	    find build -mindepth 1 -maxdepth 1 ! -name deps -exec rm -rf {} +; fi

-include $(wildcard $(O)/src/*/*.d $(O)/tests/*.d \
                    $(O)/fuzz/*.d $(O)/examples/*.d)
