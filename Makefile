# SPDX-License-Identifier: GPL-2.0
#
# Everything runs from a fresh clone and installs what it lacks; see README.md.
#
# The scripts in qemu/ do the work.  Each knows what is already done and checks its
# arguments; this file hands these on, and says what needs what.

SHELL := /bin/bash
Q := qemu

# Without make's own meaning of a $
TEXT := APPEND CACHE CMD DMESG KSRC SHARE
$(foreach name,$(TEXT),$(eval override $(name) := $$(value $(name))))
export $(TEXT)

# No rules of make's own
.SUFFIXES:

.PHONY: help demo check fuzz check-fuzz accuracy bench guest run-guest terminal shell root guest-root tree kernel \
	perf programs carry discard series FORCE

help:
	@echo "make demo             full stacks of real programs, beside other methods"
	@echo "make check            the tests, 22 minutes, or 85 at first; make check-all: hours"
	@echo "make check-NAME       one of them: Documentation/core-api/unwind-testing.rst"
	@echo "make guest CMD='...'  boot, run a command as root: its output, its status"
	@echo "     SHARE=dir (there /mnt/share) APPEND= KERNEL=debug CPUS= MEM= ICOUNT=0"
	@echo "     TIMEOUT= DMESG=file TURNS=1 ONEINSN=1: see qemu/guest.sh"
	@echo "make shell            boot into a shell.  There, perf is the patched one, and"
	@echo "                      sframe-gcc, sframe-g++ build programs with tables"
	@echo "make bench            what stacks cost, in build/bench/"
	@echo "make accuracy         how right and complete they are, in build/accuracy/"
	@echo "                      (PROGRAMS= SIZE=)"
	@echo "make fuzz             fuzz the decoder (FUZZ_SECONDS=60 FUZZ_FAST=1)"
	@echo "make series           the patches as they are mailed, in build/series/"
	@echo "make tree             bring the working tree up to date with this repository"
	@echo "make carry            carry edits in the working tree back into the patches"
	@echo "make discard          drop edits that were not carried back"
	@echo "make kernel, perf, programs   only build these (KERNEL=normal, debug, off...)"
	@echo
	@echo "ARCH=x86_64 or arm64   BASE=6.12 or mainline   KSRC=dir, an unpacked kernel"
	@echo "CACHE=dir: where all is kept, 12 GB; else ~/.cache/unwind, under sudo root's."
	@echo "sudo passes on what follows make (sudo make demo CACHE=/big), no variables"
	@echo "in front of itself."

root:
	@$(Q)/root.sh

guest-root: root
	@$(Q)/root.sh guest

tree: root
	@$(Q)/tree.sh sync

carry:
	@$(Q)/tree.sh carry

discard:
	@$(Q)/tree.sh discard

series: root
	@$(Q)/series.sh

kernel: tree
	@$(Q)/kernel.sh

perf: tree guest-root
	@$(Q)/perf.sh

programs: root guest-root
	@$(Q)/programs.sh

# There has to be one where there is no command: said before anything is built
terminal:
	@$(Q)/guest.sh terminal

shell: terminal kernel perf programs
	@$(Q)/guest.sh shell

# GNU make ends with 2, whatever failed.  A function of ours ends it with the status of
# the command, which run-guest leaves in a file
STATUS := build/guest-status.$(shell echo $$PPID)

guest: run-guest
	$(eval load build/make_exit.so)$(exit $(shell cat $(STATUS) 2>&-; rm -f $(STATUS)))

run-guest: terminal kernel perf programs build/make_exit.so
	@$(Q)/guest.sh; echo $$? >$(STATUS)

build/make_exit.so: $(Q)/make_exit.c | root
	@mkdir -p build; . $(Q)/common.sh; in_root gcc-14 -shared -fPIC -nostdlib -o /mnt/repo/$@ /mnt/repo/$<

demo: kernel perf
	@$(Q)/demo.sh

fuzz check-fuzz: tree
	@$(Q)/check.sh fuzz

check:
	@$(Q)/check.sh check

check-%: FORCE
	@$(Q)/check.sh $*

accuracy:
	@$(Q)/figures.sh accuracy

bench:
	@$(Q)/figures.sh bench
