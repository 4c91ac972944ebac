# SPDX-License-Identifier: GPL-2.0
#
# Which tests "make check" and "make check-all" run, and what each needs built.
# check.sh calls this file; make then runs tests and builds side by side.
#
# A test is NAME@ARCH; check.sh has a function of that name.  Tests that are the same
# for all architectures are x86_64's.  A target's order is the order in which make
# begins: long tests first, so that no long one is left alone at the end.

SHELL := /bin/bash

# Those that run on the host, or on the normal kernel
HOST := style host series
FOLDERS := tables tracers stress stacks step
GUEST := $(FOLDERS) kunit
USERS := tools tools-all perf demo

CHECK_x86_64 := perf debug tables tracers demo tools stress stacks step kunit $(HOST)
CHECK_arm64 := kunit stacks step link
ALL_x86_64 := $(CHECK_x86_64) proof stock tools-all same debug-all stress-long one-insn worst builds configs soak
ALL_arm64 := $(USERS) $(GUEST) configs same link unsigned tags big-endian debug debug-all stress-long

ARCHES := x86_64 arm64
CHECK := $(foreach a,$(ARCHES),$(addsuffix @$a,$(CHECK_$a)))
ifeq ($(BASE),mainline)
ALL_x86_64 += fixes
CHECK := $(addsuffix @x86_64,stock debug $(GUEST) series fixes) $(addsuffix @arm64,stress stacks step kunit)
endif
TESTS := $(foreach a,$(ARCHES),$(addsuffix @$a,$(ALL_$a)))
check: $(CHECK)
all: $(TESTS)

BUILDS := guest-root kernel-normal kernel-debug kernel-off kernel-be selftests perf-tool libc programs

# rules ARCH - what its tests need
define rules
MADE += $(addsuffix @$1,$(BUILDS))
guest-root@$1: root
kernel-normal@$1 kernel-debug@$1 kernel-off@$1 kernel-be@$1: tree
perf-tool@$1 libc@$1: tree guest-root@$1
programs@$1: libc@$1
selftests@$1: kernel-normal@$1 libc@$1
# The compiler runs for one kernel at a time
kernel-debug@$1 kernel-off@$1 kernel-be@$1: | kernel-normal@$1
perf-tool@$1: | kernel-normal@$1
host@$1 proof@$1: root tree
link@$1: tree guest-root@$1
style@$1 series@$1 builds@$1: tree
kunit@$1 worst@$1 fixes@$1: kernel-normal@$1 guest-root@$1
$(addsuffix @$1,$(FOLDERS) unsigned tags stress-long one-insn configs): kernel-normal@$1 selftests@$1
stock@$1: kernel-normal@$1 programs@$1
$(addsuffix @$1,$(USERS) soak same): kernel-normal@$1 perf-tool@$1 programs@$1 selftests@$1
debug@$1 debug-all@$1: kernel-debug@$1 selftests@$1
big-endian@$1: kernel-be@$1 guest-root@$1
endef
$(foreach a,$(ARCHES),$(eval $(call rules,$a)))

# Of all, what x86-64 needs is built before what arm64 needs, and what long tests need first
ifneq ($(filter check all,$(MAKECMDGOALS)),)
kernel-debug@x86_64: | selftests@x86_64 perf-tool@x86_64
ifneq ($(BASE),mainline)
kernel-normal@arm64 libc@arm64: | kernel-debug@x86_64
endif
endif

# make goes through the list once before it begins anew.  So what comes after the debug
# kernel's tests waits for that kernel, too, or they would come last, alone
ifeq ($(MAKECMDGOALS)$(filter mainline,$(BASE)),check)
$(addsuffix @x86_64,demo tools $(FOLDERS)): | kernel-debug@x86_64
endif

print-check: ; @echo $(CHECK)
print-all: ; @echo $(TESTS)

.PHONY: print-check print-all check all root tree $(MADE) $(TESTS)

$(TESTS):
	@qemu/check.sh one $@

root tree $(MADE):
	@qemu/check.sh build $@
