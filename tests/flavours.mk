# SPDX-License-Identifier: MIT
#
# flavours.mk - CC.x and CFLAGS.x build flavour x; TESTFLAGS.x are more flags
# for the tests themselves; RUN.x is the command that runs its programs.

# Reports of sanitizers name only lines, so -g1 is enough.
SANITIZE = -O1 -g1 -fno-omit-frame-pointer -fno-sanitize-recover=all \
           -fsanitize=address,undefined
CLANG_SANITIZE = $(SANITIZE) \
           -fsanitize=implicit-conversion,local-bounds,nullability

CFLAGS.asan       = $(SANITIZE) $(STRICT)
# This flavour is built most often, and the tests take longer to compile than to
# run.
TESTFLAGS.asan    = -O0
CC.asan-clang     = $(CLANG)
CFLAGS.asan-clang = $(CLANG_SANITIZE) $(STRICT)
CFLAGS.release    = -O2 -DNDEBUG $(STRICT)
CC.release-clang  = $(CLANG)
CFLAGS.release-clang = -O2 -DNDEBUG $(STRICT)
CFLAGS.visible    = -O1 -g
CFLAGS.shipped    = -O0 -g
CFLAGS.tiny       = $(SANITIZE) -DRELET_TINY
CC.msan           = $(CLANG)
CFLAGS.msan       = -O1 -g -fsanitize=memory -fsanitize-memory-track-origins
CFLAGS.tsan       = -O1 -g -fsanitize=thread
CFLAGS.m32        = -O2 -g -m32 $(M32_CFLAGS)
CC.be             = $(CC_BE)
CFLAGS.be         = -O2 -static
RUN.be            = $(QEMU_BE)
CC.musl           = $(MUSL_GCC)
CFLAGS.musl       = -O2 -static
CC.small          = $(MUSL_GCC)
CFLAGS.small      = -Os -DNDEBUG -static -fno-pie -no-pie \
                    -fno-asynchronous-unwind-tables -ffunction-sections \
                    -fdata-sections -Wl,--gc-sections
CC.tcc            = $(TCC)
CFLAGS.tcc        = -g
CFLAGS.valgrind   = -O1 -g
RUN.valgrind      = $(VALGRIND) -q --error-exitcode=99 --leak-check=full
CC.cov            = $(CLANG)
CFLAGS.cov        = -O0 -g -DNDEBUG -fprofile-instr-generate \
                    -fcoverage-mapping
CC.fuzz           = $(CLANG)
CFLAGS.fuzz       = $(SANITIZE) -fsanitize=fuzzer-no-link
CFLAGS.bench      = -O2 -DNDEBUG
CC.bench-musl     = $(MUSL_GCC)
CFLAGS.bench-musl = -O2 -DNDEBUG -static
# At -O0 an object asks for all that its source calls, needed or not.
CFLAGS.pure       = -O0 -fno-pic -no-pie -fno-stack-protector
