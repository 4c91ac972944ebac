# SPDX-License-Identifier: GPL-2.0
#
# How the programs and libraries that the tests map and run are built

# Nothing that would add code of the compiler's or the linker's own; tables are mapped
# apart from text
BARE := -O2 -g -Wall -Ilib -idirafter $(SRC)/tools/include -fno-inline -ffreestanding -nostdlib
BARE += -fno-stack-protector -fcf-protection=none -fno-asynchronous-unwind-tables
BARE += -Wl,--build-id=none -Wl,-z,separate-code
STATIC := -fno-pic -no-pie -static
HOW_none := -fomit-frame-pointer -Wa,--gsframe=no
HOW_fp := -fno-omit-frame-pointer -Wa,--gsframe=no
HOW_table := -fomit-frame-pointer -fasynchronous-unwind-tables -Wa,--gsframe
HOW_both := -fno-omit-frame-pointer -fasynchronous-unwind-tables -Wa,--gsframe
HOW_other := -DFRAME=96
HOW_signed := -mbranch-protection=standard
HOW_b := -mbranch-protection=pac-ret+leaf+b-key+bti
HOW_thunk := -mfunction-return=thunk -mindirect-branch=thunk
HOW_32 := -m32
HOW_little := $(HOW_table)
HOW_big := $(HOW_table) -mbig-endian
LINK_pie := -fpie -static-pie
LINK_dynamic := -fpie -pie
named = $(foreach w,$(subst _, ,$*),$($1_$w))
define bare
	$(call msg,CC,,$@)
	$(Q)$(CC) $(BARE) $(call named,HOW) $1 $(filter %.c %.S %.o,$^) -o $@
endef

$(OUTPUT)/chain_%.so: chain.c $(LOCAL_HDRS)
	$(call bare,-fPIC -shared -e chain)
$(OUTPUT)/twin_%.so: twin.c $(LOCAL_HDRS)
	$(call bare,$(HOW_table) -DFRAME=$* -fPIC -shared -e twin)
# Linked to an address of its own, as prelink does
$(OUTPUT)/twin_linked.so: twin.c $(LOCAL_HDRS)
	$(call bare,$(HOW_table) -DFRAME=160 -fPIC -shared -e twin -Xlinker -Ttext-segment=0x40000000)
$(OUTPUT)/plt.so: plt.c $(LOCAL_HDRS)
	$(call bare,$(HOW_table) -fplt -z lazy -fPIC -shared)
$(OUTPUT)/prog_%: prog.c chain.c $(LOCAL_HDRS)
	$(call bare,$(or $(strip $(call named,LINK)),$(STATIC)))
$(OUTPUT)/prog_signal_%: prog_signal.c $(LOCAL_HDRS)
	$(call bare,$(HOW_fp) $(STATIC))
# With a build-id, by which it is known when it is gone
$(OUTPUT)/profiled: profiled.c $(LOCAL_HDRS)
	$(call bare,$(HOW_table) -fno-optimize-sibling-calls $(STATIC) -Xlinker --build-id)
$(OUTPUT)/step_lies: step_lies.S
	$(call bare,$(HOW_table) $(STATIC))

# The ways of step/step_programs.h; OTHER_: how step_calls_other.c is compiled instead
$(foreach o,O0 O1 O2 O3 Os,$(eval CALLS_$o := -$o)$(eval CALLS_$o_fp := -$o -fno-omit-frame-pointer))
CALLS_cf_protection := -fcf-protection=full
CALLS_general_regs := -mgeneral-regs-only -DNO_VECTORS
CALLS_avx2 := -O3 -mavx2
CALLS_clash := -fstack-clash-protection
CALLS_only_fp := $(HOW_fp) -fno-asynchronous-unwind-tables
CALLS_asm := -DWITH_ASM programs/step_calls_asm.S
CALLS_signed := $(HOW_signed)
CALLS_signed_b := $(HOW_b)
CALLS_sve := -O3 -march=armv8.2-a+sve
OTHER_mixed_fp := $(HOW_fp) -fno-asynchronous-unwind-tables
OTHER_mixed_none := $(HOW_none) -fno-asynchronous-unwind-tables
$(OUTPUT)/step_calls_pie: STATIC = -fpie -pie $(INTERPRETER)
$(OUTPUT)/step_calls_%: step_calls.c step_calls_other.c step_calls_asm.S $(LOCAL_HDRS)
	$(call msg,CC,,$@)
	$(Q)$(CC) $(BARE) $(STATIC) $(HOW_table) $(or $(OTHER_$*),$(filter-out %.S,$(CALLS_$*))) -c $(word 2,$^) -o $@.o
	$(Q)$(CC) $(BARE) $(STATIC) $(HOW_table) $(CALLS_$*) $< $@.o -o $@
	$(Q)rm -f $@.o

# Lazily bound, with the C library that has tables if there is one: below SFRAME_ROOT
LOADER := $(if $(ARM64),ld-linux-aarch64.so.1,ld-linux-x86-64.so.2)
SFRAME_LIBC ?= $(patsubst $(SFRAME_ROOT)%/$(LOADER),%,$(wildcard $(SFRAME_ROOT)/opt/sframe/lib/$(LOADER)))
INTERPRETER := $(SFRAME_LIBC:%=-Wl,--dynamic-linker=%/$(LOADER))
STEP := -O2 -g -Wall -fno-inline -fomit-frame-pointer -Wa,--gsframe -Wl,-z,lazy $(INTERPRETER)
STEP += $(SFRAME_LIBC:%=-B$(SFRAME_ROOT)%) $(SFRAME_LIBC:%=-L$(SFRAME_ROOT)%) $(SFRAME_LIBC:%=-Wl,-rpath,%)
$(OUTPUT)/step_dl: STEP += -rdynamic
$(OUTPUT)/step_%: step_%.c
	$(call msg,CC,,$@)
	$(Q)$(CC) $(STEP) $< -o $@ -lm
$(OUTPUT)/step_%.so: step_%.c
	$(call msg,CC,,$@)
	$(Q)$(CC) $(STEP) -fPIC -shared $< -o $@
$(OUTPUT)/step_throw: step_throw.cc
	$(call msg,CXX,,$@)
	$(Q)$(CXX) $(STEP) -static-libgcc -static-libstdc++ $< -o $@

AUDITED_pie := -fpie -pie
AUDITED_no_pie := -fno-pie -no-pie
$(OUTPUT)/audited_%: audited.c
	$(call msg,CC,,$@)
	$(Q)$(CC) $(CFLAGS) $(WAY_fp) $(AUDITED_$*) -Wa,--gsframe $< -o $@ -ldl

$(OUTPUT)/doc_%: $(DOC) programs/doc_example.awk
	$(call msg,CC,,$@)
	$(Q)awk -v name=$* -f programs/doc_example.awk $(DOC) >$@.c
	$(Q)$(CC) -O2 -g -Wall -Wa,--gsframe $(KHDR_INCLUDES) $@.c -o $@

MAKE_TOOL = $(Q)$(MAKE) -s -C $(<D) $(abspath $@) CC="$(CC_PROFILE)" OUTPUT=$(abspath $(OUTPUT)) KHDR_INCLUDES="$(KHDR_INCLUDES)" CFLAGS="-O2 -g -Wall"
$(OUTPUT)/unwind-profile: $(SRC)/tools/unwind/profile/Makefile $(wildcard $(SRC)/tools/unwind/profile/*)
	$(call msg,MAKE,,$@)
	$(MAKE_TOOL)
$(OUTPUT)/unwind_audit.so: $(SRC)/tools/unwind/Makefile $(SRC)/tools/unwind/audit.c $(wildcard $(SRC)/tools/unwind/tables/*.h)
	$(call msg,MAKE,,$@)
	$(MAKE_TOOL)
$(OUTPUT)/plugin_user_unwind.so: $(SRC)/tools/unwind/trace-cmd/Makefile $(SRC)/tools/unwind/trace-cmd/plugin_user_unwind.c
	$(call msg,MAKE,,$@)
	$(MAKE_TOOL)
SELF := $(SRC)/tools/unwind/libunwind-self
$(OUTPUT)/coroutines $(OUTPUT)/unwind_self.so: $(SELF)/Makefile $(wildcard $(SELF)/*.[ch] $(SELF)/*/*.c)
	$(call msg,MAKE,,$@)
	$(MAKE_TOOL)

# Not run by this kernel but built for one of the other endianness: /init of an
# initramfs, and what it maps (see big_endian.c)
big_endian: $(OUTPUT)/big_endian $(OUTPUT)/chain_big.so $(OUTPUT)/chain_little.so
.PHONY: big_endian
$(OUTPUT)/big_chain_%.o: chain.c $(LOCAL_HDRS)
	$(call bare,-mbig-endian $(STATIC) -Dchain=chain_$* -c)
$(OUTPUT)/big_endian: big_endian.c $(addprefix $(OUTPUT)/big_chain_,table.o fp_signed.o table_signed.o table_signed_b.o)
	$(call bare,$(KHDR_INCLUDES) -include $(SRC)/tools/include/nolibc/nolibc.h -mbig-endian $(STATIC) $(HOW_table))
