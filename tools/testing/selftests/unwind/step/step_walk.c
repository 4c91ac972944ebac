// SPDX-License-Identifier: GPL-2.0
/*
 * Walking by rows, see step_walk.h.
 */
#include <stdio.h>

#include "step_walk.h"

static bool apply(const struct walk *walk, const struct code *code,
		  const struct step_regs *regs,
		  const struct step_rule *rule, uint64_t cfa, uint64_t *val)
{
	if (rule->base == STEP_CFA)
		*val = cfa;
	else if (rule->reg == STEP_REG_SP)
		*val = walk->sp;
	else if (rule->reg == STEP_REG_FP)
		*val = walk->fp;
	else if (walk->topmost && rule->reg < STEP_REGS)
		*val = regs->reg[rule->reg];
	else
		return false;
	*val += rule->offset;
	return !rule->deref || code_read(code, *val, val, sizeof(*val));
}

/* Go to the caller by the row; false if it leads nowhere */
static bool next_by_row(struct walk *walk, const struct code *code,
			const struct step_regs *regs,
			const struct step_row *row)
{
	struct walk next = *walk;

	if (row->outermost || row->cfa.base == STEP_SAME ||
	    row->ra.base == STEP_SAME ||
	    !apply(walk, code, regs, &row->cfa, 0, &next.sp) ||
	    !apply(walk, code, regs, &row->ra, next.sp, &next.ip) ||
	    (row->fp.base != STEP_SAME &&
	     !apply(walk, code, regs, &row->fp, next.sp, &next.fp)))
		return false;
	/* A caller's frame is not further in */
	if (!row->signal && next.sp < walk->sp)
		return false;
	next.ip = machine_ra(next.ip);
	next.topmost = false;
	next.exact = row->signal;
	*walk = next;
	return true;
}

/* Go from a handler's return address to the interrupted code */
static bool next_by_signal(struct walk *walk, const struct code *code)
{
	uint64_t frame = walk->sp - HANDLER_POPS;

	walk->topmost = false;
	walk->exact = true;
	return code_read(code, frame + FRAME_IP, &walk->ip, sizeof(walk->ip)) &&
	       code_read(code, frame + FRAME_SP, &walk->sp, sizeof(walk->sp)) &&
	       code_read(code, frame + FRAME_FP, &walk->fp, sizeof(walk->fp));
}

static bool find_row(const struct walk *walk, struct code *code,
		     struct step_row *row)
{
	uint64_t addr = walk->exact ? walk->ip : walk->ip - 1;
	const struct module *module = code_module(code, addr);
	const struct step_fde *fde;

	if (!module)
		return false;
	addr -= module->bias;
	fde = section_fde(&module->section, addr);
	return fde && section_row(&module->section, fde, addr, row);
}

static bool next(struct walk *walk, struct code *code,
		 const struct step_regs *regs)
{
	struct step_row row;

	snprintf(walk->row, sizeof(walk->row), "no row");
	if (!find_row(walk, code, &row))
		return code_is_restorer(code, walk->ip) &&
		       next_by_signal(walk, code);
	row_print(&row, walk->row, sizeof(walk->row));
	return next_by_row(walk, code, regs, &row);
}

/* The frame pointer's caller, which is used when the row is of no use */
static uint64_t by_fp(const struct walk *walk, const struct code *code)
{
	uint64_t ra = 0;

	if (walk->fp < walk->sp ||
	    !code_read(code, walk->fp + 8, &ra, sizeof(ra)))
		return 0;
	return machine_ra(ra);
}

/* The stack pointer of the caller, as a call leaves it */
static bool is_sp_of(const struct shadow_frame *frame, uint64_t sp)
{
	return frame->exact || sp == frame->slot + (CALLS_PUSH ? sizeof(long) : 0);
}

/* The link register's caller, which is tried before that */
static uint64_t by_link(const struct walk *walk, const struct step_task *task)
{
#if CALLS_PUSH
	return 0;
#else
	return walk->topmost ? machine_ra(task->regs.reg[STEP_REG_RA]) : 0;
#endif
}

/* Follow the true frames; @culprit is the first that does not restore FP and SP */
static bool walk_truth(struct walk *walk, struct walk *culprit, struct code *code,
		       const struct step_task *task, struct shadow_iter *iter,
		       unsigned int frames)
{
	while (frames--) {
		const struct shadow_frame *frame = shadow_next(iter);
		struct walk from = *walk;

		if (!next(walk, code, &task->regs) || walk->ip != frame->ra)
			return false;
		if ((walk->fp != frame->fp || !is_sp_of(frame, walk->sp)) && !culprit->ip) {
			*culprit = from;
			snprintf(culprit->row, sizeof(culprit->row), "%s",
				 walk->row);
		}
	}
	return true;
}

bool walk_goes_astray(struct walk *walk, struct code *code,
		      const struct step_task *task,
		      const struct step_stack *stack, unsigned int same)
{
	struct walk caller, culprit = {};
	const struct shadow_frame *frame;
	struct shadow_iter iter;
	uint64_t kernel;
	bool leads;

	*walk = (struct walk){
		.ip = task->regs.ip,
		.sp = task->regs.sp,
		.fp = task->regs.fp,
		.topmost = true,
		.exact = true,
	};
	shadow_walk(&iter, &task->shadow);
	if (!same || !walk_truth(walk, &culprit, code, task, &iter, same - 1))
		return false;
	frame = shadow_next(&iter);
	kernel = same < stack->nr ? stack->ip[same] : 0;

	caller = *walk;
	leads = next(&caller, code, &task->regs);
	snprintf(walk->row, sizeof(walk->row), "%s", caller.row);
	if (leads && frame && caller.ip == frame->ra)
		return false;
	/* Follow the row, or stop, or follow one of these registers instead */
	if (kernel && !(leads && kernel == caller.ip) &&
	    kernel != by_fp(walk, code) && kernel != by_link(walk, task))
		return false;
	if (culprit.ip)
		*walk = culprit;
	return true;
}
