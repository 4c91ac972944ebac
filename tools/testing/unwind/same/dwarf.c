// SPDX-License-Identifier: GPL-2.0
/*
 * Unwinding a stack copy by .eh_frame, with libdw.
 *
 * libdw unwinds as it does for perf: it is given the registers and requests words of the
 * stack, which come only from the copy.
 *
 * Where .eh_frame describes nothing, libdw guesses by the frame pointer. A guess is not
 * truth: the stack counts as stopped there.
 */
#include <dwarf.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "dwarf.h"
#include "map.h"

static struct {
	Dwfl				*dwfl;
	const struct same_sample	*sample;
	struct stack			*stack;
	/* The last missing word, and the reason */
	enum end			missing;
} state;

static pid_t no_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	return 0;
}

static bool the_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	*thread_arg = arg;
	return true;
}

/*
 * The caller of a signed function: libdw needs a process to know the bits of signatures.
 * No program uses the bits above an address of its text for anything else.
 */
static uint64_t without_signature(uint64_t word)
{
	uint64_t address = machine_strip(word);

	return address != word && map_find(address - 1) ? address : word;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	Dwarf_Word regs[DWARF_NUM];
	unsigned int i;

	for (i = 0; i < DWARF_NUM; i++)
		regs[i] = same_dwarf_reg(state.sample, i);
	if (MACHINE_HAS_LR)
		regs[DWARF_RA] = without_signature(regs[DWARF_RA]);
	dwfl_thread_state_register_pc(thread, regs[DWARF_IP]);
	return dwfl_thread_state_registers(thread, 0, DWARF_NUM, regs);
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *arg)
{
	uint64_t val;

	if (!stack_word(state.sample, same_dwarf_reg(state.sample, DWARF_SP),
			address, &val, &state.missing))
		return false;
	*word = without_signature(val);
	return true;
}

static const Dwfl_Thread_Callbacks callbacks = {
	.next_thread = no_thread,
	.get_thread = the_thread,
	.memory_read = read_word,
	.set_initial_registers = set_registers,
};

/* NULL: .eh_frame does not describe the address. The caller frees it. */
static Dwarf_Frame *frame_at(uint64_t ip)
{
	const struct object *object = map_find(ip);
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;

	cfi = object ? dwfl_module_eh_cfi(object->module, &bias) : NULL;
	if (!cfi || dwarf_cfi_addrframe(cfi, ip - bias, &frame))
		return NULL;
	return frame;
}

static bool is_outermost(Dwarf_Frame *frame)
{
	Dwarf_Op mem[3], *ops;
	size_t num;

	/* "Undefined" and "the same" both have no operations */
	return !dwarf_frame_register(frame, DWARF_RA, mem, &ops, &num) && !num && ops;
}

static int each_frame(Dwfl_Frame *dwfl_frame, void *arg)
{
	struct stack *stack = state.stack;
	Dwarf_Frame *frame;
	bool activation;
	Dwarf_Addr ip;

	if (!dwfl_frame_pc(dwfl_frame, &ip, &activation)) {
		stack->end = END_OTHER;
		return DWARF_CB_ABORT;
	}
	stack->end = END_NO_TEXT;
	if (!map_find(activation ? ip : ip - 1))
		return DWARF_CB_ABORT;
	stack->ip[stack->num++] = ip;
	stack->end = END_OTHER;
	if (stack->num == MAX_FRAMES)
		return DWARF_CB_ABORT;
	frame = frame_at(activation ? ip : ip - 1);
	if (!frame)
		stack->end = END_NOTHING;
	else if (is_outermost(frame))
		stack->end = END_OUTERMOST;
	free(frame);
	state.missing = END_OTHER;
	return stack->end == END_OTHER ? DWARF_CB_OK : DWARF_CB_ABORT;
}

void dwarf_attach(struct Dwfl *dwfl, uint32_t pid)
{
	state.dwfl = dwfl;
	if (!dwfl_attach_state(dwfl, NULL, pid, &callbacks, NULL))
		errx(1, "libdwfl: %s", dwfl_errmsg(-1));
}

void dwarf_unwind(const struct same_sample *sample, struct stack *stack)
{
	state.sample = sample;
	state.stack = stack;
	stack->num = 0;
	dwfl_getthread_frames(state.dwfl, sample->tid, each_frame, NULL);
	if (stack->end == END_OTHER)
		stack->end = state.missing;
}

bool dwarf_cfa_is_low(uint64_t ip)
{
	Dwarf_Frame *frame = frame_at(ip);
	Dwarf_Op mem[3], *ops;
	bool low;
	size_t num;

	/* An offset of 0 has no second operation; a negative one is a large number */
	low = frame && !dwarf_frame_register(frame, DWARF_RA, mem, &ops, &num) && num &&
	      ops[0].atom == DW_OP_call_frame_cfa &&
	      (num == 1 || (num == 2 && ops[1].atom == DW_OP_plus_uconst &&
			    (int64_t)ops[1].number >= 0));
	free(frame);
	return low;
}

const char *dwarf_rule(uint64_t ip)
{
	static char buf[128];
	Dwarf_Frame *frame = frame_at(ip);
	Dwarf_Op *ops;
	size_t num;

	if (!frame)
		return "no CFI";
	if (is_outermost(frame))
		snprintf(buf, sizeof(buf), "outermost");
	else if (dwarf_frame_cfa(frame, &ops, &num))
		snprintf(buf, sizeof(buf), "no CFA");
	else if (num == 1 && ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31)
		snprintf(buf, sizeof(buf), "cfa=reg%u%+lld", ops->atom - DW_OP_breg0,
			 (long long)ops->number);
	else if (num == 1 && ops->atom == DW_OP_bregx)
		snprintf(buf, sizeof(buf), "cfa=reg%llu%+lld",
			 (unsigned long long)ops->number, (long long)ops->number2);
	else
		snprintf(buf, sizeof(buf), "cfa by an expression of %zu", num);
	free(frame);
	return buf;
}
