# SPDX-License-Identifier: MIT
#
# local.mk - the local server, read by the Makefile. What a person needs:
#
#   make F=asan local            its tests alone, in one of the flavours
#   make F=asan engine           those of whole clients on it
#   make model SEEDS=9 FROM=1    what it answers, against Redis and Valkey
#   make lua-model SEEDS=9       what Lua programs say, likewise
#
# Its objects are part of the library, build/dist/relet_local.c is the second
# amalgamation, every check is made of it too, and its tests run with the suite
# of the flavours in LOCAL_FLAVOURS.

# The rooms of src/local, lowest first. One that stands here as .h and as .c
# is seen below what it is made of: its source looks into rooms that are built
# on its header. Of the commands, those that lend something to others come
# before the rest.
local_commands = $(sort $(basename $(notdir \
                 $(wildcard src/local/commands/cmd_*.$1))))
LENDERS = cmd_walk $(filter-out cmd_walk,$(call local_commands,h))
LOCAL   = pool str dict glob big longdouble num tree list hash set zset stream \
          stream_group obj keys out \
          luamem luanum luamath luaval luatab luaop luavm.h luaerr luaexec \
          luavm.c lualex luacode luaexpr luaops luaparse.h luastat \
          luaparse.c luaarg luaresp luareply lualib luamatch luabase \
          luaformat luagsub luamathlib luasort luastring luatable lua.h \
          luaredis lua.c \
          call.h state propagate blocked pubsub track call.c callarg \
          dispatch.h multi lookup users scripts dispatch.c peer request \
          $(LENDERS) rows $(filter-out $(LENDERS),$(call local_commands,c)) \
          table dump server log

# Above them, in src/driver, what mem: and file: need of the system.
STORE   = driver/logfile driver/store driver/store_link

# The rooms of the core that it stands on. relet_local.c brings its own copy.
GROUND  = base/text base/rand base/sha1 base/buf

LOCAL_LAYERS  = data lua commands server
LOCAL_INSIDES = -Isrc/base $(LOCAL_LAYERS:%=-Isrc/local/%) -Isrc/driver

# A name without a file stays, so that whoever reads it complains.
local_files   = $(or $(wildcard src/local/*/$1 src/local/*/$1.h \
                  src/local/*/$1.c),src/local/$1.c)
LOCAL_ROOMS   = $(foreach r,$(LOCAL),$(call local_files,$r))
LOCAL_SOURCES = src/base/base.h $(foreach r,$(GROUND),src/$r.h src/$r.c) \
                $(LOCAL_ROOMS) $(foreach r,$(STORE),$(wildcard src/$r.h) \
                src/$r.c)
LOCAL_PURE    = $(patsubst src/%.c,$(O)/src/%.o,$(filter %.c,$(LOCAL_ROOMS)))
LOCAL_OBJECTS = $(LOCAL_PURE) $(STORE:%=$(O)/src/%.o)

dist: $(DIST)/relet_local.c $(DIST)/relet_local.h

$(DIST)/relet_local.c: tools/amalgamate.sh include/relet_local.h \
                       $(LOCAL_SOURCES) LICENSE src/local/local.mk
	@mkdir -p $(@D)
	sh tools/amalgamate.sh -local $(VERSION) $(LOCAL_SOURCES) >$@

# For tests of the server alone.
$(O)/relet_local.o: $(DIST)/relet_local.c $(DIST)/relet_local.h
	@mkdir -p $(@D)
	@$(SAY) "  CC  $<"
	$(Q)$(COMPILE) -DRELET_PRIVATE= -DRELET_NO_POLL -c -o $@ $<

# ------------------------------------------------------------------- tests
#
# Not each test uses all that local_data.h offers, and none jumps: with a
# setjmp in reach compilers fear for the variables of what they inlined.
# visible tests relet_local.c in one piece; the harnesses and the tests of
# stores look into both parts, which only the library has in one.

LOCAL_FLAVOURS = asan asan-clang release tiny msan m32 be musl tcc
STORE_FLAVOURS = asan asan-clang release tiny m32 be musl
LOCAL_TESTING  = $(COMPILE) $(TESTFLAGS.$(F)) -Wno-conversion \
                 -Wno-sign-conversion -Wno-unused-function \
                 -DGREATEST_USE_LONGJMP=0 $(DEPEND) \
                 -Iinclude $(LOCAL_INSIDES) -Itests -Itests/local \
                 -isystem $(GREATEST_DIR)
LOCAL_TESTS    = $(patsubst %.c,$(O)/%,$(wildcard tests/local/*_test.c))
STORE_TESTS    = $(patsubst %.c,$(O)/%,$(wildcard tests/store/*_test.c))
ENGINE_TESTS   = $(patsubst %.c,$(O)/%,$(wildcard tests/engine/*_test.c))
LOCAL_FUZZ     = $(wildcard fuzz/local_fuzz.c fuzz/log_fuzz.c fuzz/lua_fuzz.c)
LOCAL_LIB      = $(if $(filter visible,$(F)),$(O)/relet_local.o,$(LIB))

ifneq ($(filter $(F),$(LOCAL_FLAVOURS) visible),)
LOCAL_UNITS    = $(LOCAL_TESTS)
endif
ifneq ($(filter $(F),$(LOCAL_FLAVOURS) cov),)
LOCAL_UNITS   += $(ENGINE_TESTS)
endif
ifneq ($(filter $(F),$(STORE_FLAVOURS)),)
LOCAL_UNITS   += $(STORE_TESTS)
endif
ifneq ($(filter $(F),$(LOCAL_FLAVOURS) fuzz),)
LOCAL_REPLAYS  = $(LOCAL_FUZZ:%.c=$(O)/%)
endif

$(LOCAL_TESTS): $(O)/%: %.c $(LOCAL_LIB) src/local/local.mk | greatest
	@mkdir -p $(@D)
	@$(SAY) "  LD  $@"
	$(Q)$(LOCAL_TESTING) -o $@ $< $(LOCAL_LIB) -lm

$(STORE_TESTS): $(O)/%: %.c $(LIB) src/local/local.mk | greatest
	@mkdir -p $(@D)
	@$(SAY) "  LD  $@"
	$(Q)$(LOCAL_TESTING) -o $@ $< $(LIB) -lm

$(ENGINE_TESTS): $(O)/%: %.c $(LIB) src/local/local.mk | greatest
	@mkdir -p $(@D)
	@$(SAY) "  LD  $@"
	$(Q)$(TESTING) -DGREATEST_USE_LONGJMP=0 -Itests/engine -o $@ $< $(LIB) -lm

engine: $(ENGINE_TESTS)
	@sh tests/suite.sh "$(RUN)" $^

$(LOCAL_REPLAYS): TESTING = $(LOCAL_TESTING) $(INSIDES)
$(LOCAL_REPLAYS): src/local/local.mk

local: $(LOCAL_TESTS) $(STORE_TESTS) $(LOCAL_REPLAYS)
	@sh tests/suite.sh "$(RUN)" $^

# Commands a second on a file in this folder, for each policy.
build/release/tests/store/store_bench: tests/store/store_bench.c $(OBJECTS)
	@mkdir -p $(@D)
	@$(MAKE) -s F=release build/release/librelet.a
	@$(SAY) "  LD  $@"
	$(Q)$(COMPILE) -Wno-unused-function -Iinclude \
	    -o $@ $< build/release/librelet.a

store-bench: build/release/tests/store/store_bench
	@build/release/tests/store/store_bench build/release 1

# ------------------------------------------------------------------- model
#
# Random commands to the real servers and to ours. The shim is loaded into the
# real ones, to give them the time.

SEEDS ?= 2000
FROM  ?= 1
MODEL  = $(filter-out tests/model/shim.c,$(wildcard tests/model/*.c))
MODEL_SERVERS = REDIS_SERVER="$(REDIS_SERVER)" \
                VALKEY_SERVER="$(VALKEY_SERVER)" VALKEY_LIBS="$(VALKEY_LIBS)"

build/model/shim.so: tests/model/shim.c
	@mkdir -p $(@D)
	@$(SAY) "  LD  $@"
	$(Q)$(COMPILE) -fPIC -shared -o $@ $<

build/model/model: $(MODEL) $(wildcard tests/model/*.h) $(O)/librelet.a
	@mkdir -p $(@D)
	@$(SAY) "  LD  $@"
	$(Q)$(COMPILE) -DMODEL_OURS -Iinclude $(INSIDES) -Itests/model -o $@ $(MODEL) \
	    $(O)/librelet.a -lm

model: build/model/model build/model/shim.so
	@$(MODEL_SERVERS) build/model/model -l lua $(SEEDS) $(FROM)

# The corpus of tests/lua, and programs that are made up.
build/lua_model/lua_model: tests/local/lua_model.c $(O)/librelet.a
	@mkdir -p $(@D)
	@$(SAY) "  LD  $@"
	$(Q)$(LOCAL_TESTING) -o $@ $< $(O)/librelet.a -lm

lua-model: build/lua_model/lua_model
	@sh tests/local/lua_model.sh $(SEEDS) $(FROM)

# ------------------------------------------------------------------ checks

check-layers: check-layers-local
check-layers-local:
	@sh tools/check_local.sh $(LOCAL_SOURCES)

check-pure: check-pure-local
check-pure-local: pure
	@sh tools/check_pure.sh $(LOCAL_PURE:$(O)/%=build/pure/%)

# ----------------------------------------------------------------- install

install: install-local
install-local:
	mkdir -p $(D)$(PREFIX)/include
	install -m 644 include/relet_local.h $(D)$(PREFIX)/include/relet_local.h

uninstall: uninstall-local
uninstall-local:
	rm -f $(D)$(PREFIX)/include/relet_local.h

.PHONY: local engine store-bench model lua-model check-layers-local \
        check-pure-local \
        install-local uninstall-local

-include $(wildcard $(O)/src/local/*/*.d $(O)/tests/local/*.d \
                    $(O)/tests/store/*.d $(O)/tests/engine/*.d)
