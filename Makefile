# SPDX-License-Identifier: GPL-2.0
#
# Everything runs from a fresh clone and installs what it lacks; see README.md.
#
# The work is done by the scripts in qemu/.  Each knows by itself what is
# already done, so the targets below only say what needs what.

SHELL := /bin/bash
export ARCH ?= x86_64
export KSRC KERNEL CMD SHARE APPEND CPUS MEM ICOUNT TIMEOUT DMESG JOBS FUZZ_SECONDS

Q := qemu

PARTS := check-series check-host check-kunit check-selftests check-perf check-demo

.PHONY: help demo check $(PARTS) fuzz bench guest root tree kernel perf programs \
	carry discard

help:
	@echo "make demo             full stacks of a real program, beside what others give"
	@echo "make check            every test; its parts:"
	@echo "  make check-series   patches/ + new files make the tree, and pass checkpatch"
	@echo "  make check-host     the decoder, compiled for this machine, under sanitizers"
	@echo "  make check-kunit    KUnit, in the guest and on the debug kernel"
	@echo "  make check-selftests kselftests, likewise"
	@echo "  make check-perf     the perf tool's own tests of the feature"
	@echo "  make check-demo     the demo's figures"
	@echo "make fuzz             fuzz the decoder (FUZZ_SECONDS=60)"
	@echo "make bench            what it costs: tables, and build/bench/bench.json"
	@echo "make guest CMD='...'  boot and run one command (SHARE= APPEND= KERNEL=debug CPUS= MEM=)"
	@echo "make tree             bring the working tree up to date with the repository"
	@echo "make carry            carry edits in the working tree back into patches/"
	@echo "make discard          drop edits that were not carried back"

root:
	@$(Q)/root.sh

tree: root
	@$(Q)/tree.sh sync

carry:
	@$(Q)/tree.sh carry

discard:
	@$(Q)/tree.sh discard

kernel: tree
	@$(Q)/kernel.sh $(or $(KERNEL),normal)

perf: tree
	@$(Q)/perf.sh

programs: root
	@$(Q)/programs.sh

guest: kernel perf
	@$(Q)/guest.sh

demo: kernel perf programs
	@$(Q)/demo.sh

fuzz:
	@$(Q)/fuzz.sh

check:
	@$(Q)/check.sh series host kunit selftests perf demo

# By name: make looks for no pattern rule where a target is phony
$(PARTS): check-%:
	@$(Q)/check.sh $*

bench:
	@$(Q)/bench.sh decoder tables
