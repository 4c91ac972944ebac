# SPDX-License-Identifier: GPL-2.0
#
# Everything runs from a fresh clone and installs what it lacks; see README.md.
#
# The work is done by the scripts in qemu/.  Each knows by itself what is
# already done, so the targets below only say what needs what.

SHELL := /bin/bash
# All tests are of both, the rest is of one
ifeq ($(origin ARCH),undefined)
check: ARCH = x86_64 arm64
endif
export ARCH ?= x86_64
export KSRC KERNEL CMD SHARE APPEND CPUS MEM ICOUNT ONEINSN STRESS_REQUESTS TIMEOUT DMESG JOBS FUZZ_SECONDS \
	PROGRAMS SIZE MINUTES

Q := qemu

PARTS := check-series-quick check-series check-host check-kunit check-selftests check-perf check-in-place \
	check-demo check-same check-stress check-link check-big-endian

.PHONY: help demo check $(PARTS) fuzz accuracy bench guest root guest-root tree kernel perf \
	programs carry discard series

help:
	@echo "make demo             full stacks of a real program, beside what others give"
	@echo "make check            the tests of both architectures that take no hours; of x86-64:"
	@echo "  make check-series-quick patches/ + new files make the tree, and pass checkpatch"
	@echo "  make check-host     the decoder, compiled for this machine, under sanitizers"
	@echo "  make check-kunit    KUnit, in the guest and on the debug kernel"
	@echo "  make check-selftests kselftests, likewise"
	@echo "  make check-perf     the perf tool's own tests of the feature"
	@echo "  make check-in-place full stacks by Debian's unmodified bpftrace, bcc, perf and trace-cmd"
	@echo "  make check-demo     the demo's figures, and its page in a browser"
	@echo "  make check-same     some stacks beside libdw's of the same samples"
	@echo "make check-series     check-series-quick, each patch built, options off, htmldocs: hours"
	@echo "make check-link       what is seen by instructions, beside .eh_frame (ARCH=arm64)"
	@echo "make check-big-endian a big-endian kernel's stacks (ARCH=arm64)"
	@echo "make check-stress     a million requests from NMIs, 2 and 4 CPUs (STRESS_REQUESTS=); slow"
	@echo "make fuzz             fuzz the decoder (FUZZ_SECONDS=60)"
	@echo "make accuracy         how right and how complete stacks are: tables, and"
	@echo "                      build/accuracy/accuracy.json (PROGRAMS= SIZE=)"
	@echo "make bench            what it costs: tables, and build/bench/bench.json"
	@echo "make guest CMD='...'  boot and run one command (SHARE= APPEND= KERNEL=debug CPUS= MEM=)"
	@echo "make series           the patches as they are mailed, in build/series/ (KSRC=)"
	@echo "make tree             bring the working tree up to date with the repository"
	@echo "make carry            carry edits in the working tree back into patches/"
	@echo "make discard          drop edits that were not carried back"
	@echo
	@echo "ARCH=arm64: kernel, perf, programs, guest, demo, accuracy, bench, check, and its parts but"
	@echo "            check-series and check-host, which are the same for all; without it, these"
	@echo "            are x86-64's, and check is of both"
	@echo "MINUTES=n: check begins nothing of arm64 later than that, and skips it"

root:
	@$(Q)/root.sh

guest-root: root
	@$(Q)/guest-root.sh

tree: root
	@$(Q)/tree.sh sync

carry:
	@$(Q)/tree.sh carry

discard:
	@$(Q)/tree.sh discard

series: root
	@$(Q)/series.sh

kernel: tree
	@$(Q)/kernel.sh $(or $(KERNEL),normal)

perf: tree guest-root
	@$(Q)/perf.sh

programs: root guest-root
	@$(Q)/programs.sh

guest: kernel guest-root perf
	@$(Q)/guest.sh

demo: kernel perf programs
	@$(Q)/demo.sh

fuzz:
	@$(Q)/fuzz.sh

check:
	@$(Q)/check.sh all

# By name: make looks for no pattern rule where a target is phony
$(PARTS): check-%:
	@$(Q)/check.sh $*

accuracy:
	@$(Q)/accuracy.sh same step methods

bench:
	@$(Q)/bench.sh decoder tables frames rows deferred sampling memory post
