// SPDX-License-Identifier: GPL-2.0
/*
 * Compare the kernel's stacks with .eh_frame's, frame by frame, for the same samples.
 *
 *	same_compare [-s] DIR NAME [ROOT]
 *
 * DIR has the output of same_record, ROOT is the root directory of the mapped files. With
 * -s, the table service was running.
 *
 * A stack cannot change between the two: the interrupt that sampled copied it, and the
 * kernel unwinds before the task runs its program again. Meanwhile only the kernel, for a
 * system call, and other threads may write to it, and neither writes return addresses.
 * But the kernel may give the task other registers:
 *
 *	rt_sigreturn	sampled at the handler's end, unwound where it interrupted
 *	a signal	unwound at the start of the handler, whose caller is the
 *			sampled instruction
 *	a system call	to be repeated after a signal: sampled after its instruction,
 *			unwound at the instruction
 *	emulation	sampled at an instruction that the kernel executes for the
 *			program, unwound after it
 *
 * In the last two, both are in the same function, one instruction apart: they count as
 * the same. Every other difference is a mistake; whose() says whose.
 *
 * The program prints one JSON object to standard output, and the first few differences of
 * each kind to standard error. It exits with 1 if a mistake is the kernel's.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "dwarf.h"
#include "map.h"
#include "recording.h"
#include "table.h"

/* Number of printed differences of each kind */
#define SHOWN	4

enum verdict {
	SAME_COMPLETE,
	SAME_CUT,
	LEFT_OUT,
	NOT_YET,
	NOT_YET_OTHER,
	SIGRETURN,
	SIGNAL,
	COPY_SHORT,
	DWARF_MISSING,
	DWARF_FAILED,
	TABLE_WRONG,
	NO_TABLE_CUT,
	NO_TABLE_OTHER,
	OURS,
	NUM_VERDICTS
};

static const struct {
	const char	*key;
	const char	*text;
} verdicts[] = {
	[SAME_COMPLETE]	= { "same_complete", "the same, to the outermost frame" },
	[SAME_CUT]	= { "same_cut", "the same, and both end early" },
	[LEFT_OUT]	= { "left_out", "not compared: the task had left its program" },
	[NOT_YET]	= { "not_yet", "the same, up to where the table was still to come" },
	[NOT_YET_OTHER]	= { "not_yet_other", "no table yet, the frame pointer leads elsewhere" },
	[SIGRETURN]	= { "sigreturn", "sampled in sigreturn, unwound after it" },
	[SIGNAL]	= { "signal", "sampled where a signal was delivered, unwound after it" },
	[COPY_SHORT]	= { "copy_short", "the copy is too short for DWARF" },
	[DWARF_MISSING]	= { "dwarf_missing", ".eh_frame lacks an address" },
	[DWARF_FAILED]	= { "dwarf_failed", ".eh_frame leads nowhere" },
	[TABLE_WRONG]	= { "table_wrong", "the table differs from .eh_frame" },
	[NO_TABLE_CUT]	= { "no_table_cut", "no table, the kernel's stack ends" },
	[NO_TABLE_OTHER] = { "no_table_other", "no table, the frame pointer leads elsewhere" },
	[OURS]		= { "ours", "ours" },
};

static unsigned long count[NUM_VERDICTS];

/* Number of equal frames, from the topmost on */
static unsigned int common(const struct stack *a, const struct stack *b)
{
	unsigned int i;

	for (i = 0; i < a->num && i < b->num && a->ip[i] == b->ip[i]; i++)
		;
	return i;
}

/*
 * Whose mistake is a difference? The table, read by libsframe, decides:
 *
 *	the kernel's frames are not the table's			ours
 *	they are, but differ from .eh_frame's			the table is wrong
 *	.eh_frame describes nothing where the two part		DWARF missing
 *	.eh_frame needs data beyond the copy			copy too short
 *	no table there, the frame pointer was followed		no table
 *
 * A rule counts as "no table", too, if it needs a register of a frame whose registers are
 * unknown. "No table" has three kinds: the kernel's stack stops too early, with the
 * reason; it continues like .eh_frame's, which is no difference; it continues otherwise.
 * Any other difference counts as ours.
 *
 * @parted: frames that the kernel's and DWARF's stacks have in common
 */
static enum verdict whose(const struct stack *kernel, const struct stack *dwarf,
			  const struct stack *table, unsigned int parted)
{
	unsigned int by_table = common(kernel, table);

	/* The kernel must have exactly the table's frames */
	if (by_table < table->num)
		return OURS;
	if (table->end == END_OUTERMOST &&
	    (kernel->end != END_OUTERMOST || kernel->num != table->num))
		return OURS;

	if (parted == kernel->num && parted == dwarf->num)
		return dwarf->end == END_OUTERMOST && kernel->end != END_OUTERMOST ?
			NO_TABLE_CUT : dwarf->end == END_COPY ? COPY_SHORT :
			DWARF_FAILED;
	if (parted == dwarf->num) {
		if (dwarf->end == END_COPY)
			return COPY_SHORT;
		if (dwarf->end == END_NOTHING)
			return DWARF_MISSING;
		if (dwarf->end != END_OUTERMOST)
			return DWARF_FAILED;
	}
	/* The kernel used the table for the step where they part */
	if (parted < table->num)
		return TABLE_WRONG;
	if (table->end == END_NOTHING)
		return parted == kernel->num ? NO_TABLE_CUT : NO_TABLE_OTHER;
	if (table->end == END_COPY)
		return COPY_SHORT;
	/* There is a rule: it is wrong, or needs an unknown register */
	if (table->end == END_OUTERMOST || table->end == END_NO_TEXT)
		return TABLE_WRONG;
	return parted == kernel->num ? NO_TABLE_CUT : NO_TABLE_OTHER;
}

/* Did .eh_frame of a frame further in give libdw a wrong stack pointer before they part? */
static bool is_misled(const struct stack *dwarf, unsigned int parted)
{
	unsigned int i;

	for (i = 0; i + 1 < parted; i++)
		if (dwarf_cfa_is_low(dwarf->ip[i] - !!i))
			return true;
	return false;
}

/* Was the sample taken after the system call in the vDSO's sigreturn? */
static bool in_sigreturn(const struct same_sample *sample)
{
	static const uint8_t expected[] = MACHINE_SIGRETURN;
	uint64_t ip = same_dwarf_reg(sample, DWARF_IP);
	uint8_t code[sizeof(expected)];

	return sample->in_kernel && map_read(ip - sizeof(code), code, sizeof(code)) &&
	       !memcmp(code, expected, sizeof(code));
}

/* Does the stack begin with the sampled system call? */
static bool is_restarted(const struct same_sample *sample,
			 const struct stack *kernel)
{
	static const uint8_t expected[] = MACHINE_SYSCALL;
	uint64_t ip = same_dwarf_reg(sample, DWARF_IP) - sizeof(expected);
	uint8_t code[sizeof(expected)];

	return sample->in_kernel && kernel->num && kernel->ip[0] == ip &&
	       map_read(ip, code, sizeof(code)) &&
	       !memcmp(code, expected, sizeof(code));
}

/* Or after the sampled instruction, which the kernel emulated? */
static bool is_emulated(const struct same_sample *sample,
			const struct stack *kernel)
{
	uint64_t ip = same_dwarf_reg(sample, DWARF_IP);
	uint8_t code[MACHINE_EMULATED_SIZE];

	return sample->in_kernel && kernel->num &&
	       kernel->ip[0] == ip + sizeof(code) &&
	       map_read(ip, code, sizeof(code)) && machine_emulates(code);
}

/* Is @kernel the same as @dwarf, with signal handlers above it that return to sigreturn? */
static bool is_delivered(const struct same_sample *sample,
			 const struct stack *kernel, const struct stack *dwarf)
{
	static const uint8_t expected[] = MACHINE_SIGRETURN;
	static struct stack below;
	uint8_t code[sizeof(expected)];
	unsigned int i;

	if (!sample->in_kernel || kernel->end != END_OUTERMOST ||
	    dwarf->end != END_OUTERMOST || kernel->num <= dwarf->num)
		return false;
	for (i = 1; i < kernel->num - dwarf->num; i += 2)
		if (!map_read(kernel->ip[i], code, sizeof(code)) ||
		    memcmp(code, expected, sizeof(code)))
			return false;
	below.num = kernel->num - (i - 1);
	if (below.num != dwarf->num)
		return false;
	memcpy(below.ip, kernel->ip + (i - 1), below.num * sizeof(below.ip[0]));
	if (is_restarted(sample, &below))
		below.ip[0] = dwarf->ip[0];
	return common(&below, dwarf) == dwarf->num;
}

/* Does the kernel's stack end early because the service had not answered yet? */
static bool is_early(const char *reason)
{
	return reason && !strcmp(reason, "table not loaded yet");
}

/* Then a frame pointer may have been followed; the arm64 PLT has a table, and no CFI */
static enum verdict early(const struct stack *kernel, const struct stack *table,
			  unsigned int parted)
{
	if (parted == kernel->num || common(kernel, table) == kernel->num)
		return NOT_YET;
	return NOT_YET_OTHER;
}

static enum verdict judge(const struct stack *kernel, const struct stack *dwarf,
			  const struct stack *table, unsigned int *parted)
{
	*parted = common(kernel, dwarf);
	if (*parted == kernel->num && *parted == dwarf->num) {
		if (kernel->end == END_OUTERMOST && dwarf->end == END_OUTERMOST)
			return SAME_COMPLETE;
		if (kernel->end != END_OUTERMOST && dwarf->end != END_OUTERMOST)
			return SAME_CUT;
	}
	return whose(kernel, dwarf, table, *parted);
}

static void show_stack(const char *what, const struct stack *stack,
		       unsigned int from)
{
	static const char *const ends[] = {
		[END_OUTERMOST] = "outermost", [END_NOTHING] = "not described",
		[END_COPY] = "beyond the copy", [END_UNREADABLE] = "not on the stack",
		[END_NO_TEXT] = "then no text", [END_OTHER] = "for another reason",
	};
	unsigned int i;

	fprintf(stderr, "    %-8s", what);
	for (i = from; i < stack->num && i < from + 4; i++)
		fprintf(stderr, " %s", map_name(stack->ip[i]));
	if (i < stack->num)
		fprintf(stderr, " ... %u more", stack->num - i);
	fprintf(stderr, " [%u, %s]\n", stack->num, ends[stack->end]);
}

/* The evidence: the frame where the stacks part, and the rules for it */
static void show(const struct recorded *recorded, enum verdict verdict,
		 const struct stack *kernel, const struct stack *dwarf,
		 const struct stack *table, unsigned int parted)
{
	const struct same_sample *sample = &recorded->sample;
	unsigned int last = parted ? parted - 1 : 0;
	uint64_t ip = kernel->ip[last] - (last ? 1 : 0);
	const struct object *object = map_find(ip);

	fprintf(stderr, "  %s: frame %u, %s", verdicts[verdict].text, last, map_name(ip));
	if (object)
		fprintf(stderr, " (%#" PRIx64 " in %s)", ip - object->bias, object->name);
	fprintf(stderr, "\n    table: %s; .eh_frame: %s; %" PRIu64 " bytes of stack%s\n",
		table_rule(ip), dwarf_rule(ip), sample->stack_copied,
		sample->in_kernel ? ", sampled in the kernel" : "");
	fprintf(stderr, "    the kernel's reason: %s\n", recorded->reason ?: "none");
	show_stack("kernel", kernel, last);
	show_stack("dwarf", dwarf, last);
	show_stack("table", table, last);
}

static void compare(const struct recorded *recorded)
{
	static struct stack kernel, dwarf, table;
	enum verdict verdict = LEFT_OUT;
	unsigned int parted;

	if (recorded->stack) {
		recording_stack(recorded, &kernel);
		dwarf_unwind(&recorded->sample, &dwarf);
		table_unwind(&recorded->sample, &table);
		if (is_restarted(&recorded->sample, &kernel) ||
		    is_emulated(&recorded->sample, &kernel))
			kernel.ip[0] = same_dwarf_reg(&recorded->sample, DWARF_IP);
		verdict = judge(&kernel, &dwarf, &table, &parted);
		if (!parted && in_sigreturn(&recorded->sample))
			verdict = SIGRETURN;
		else if (is_early(recorded->reason))
			verdict = early(&kernel, &table, parted);
		else if (!parted && is_delivered(&recorded->sample, &kernel, &dwarf))
			verdict = SIGNAL;
		else if ((verdict == OURS || verdict == NO_TABLE_OTHER) &&
			 is_misled(&dwarf, parted))
			verdict = DWARF_FAILED;
		if (verdict > NOT_YET && count[verdict] < SHOWN)
			show(recorded, verdict, &kernel, &dwarf, &table, parted);
	}
	count[verdict]++;
}

/* Stacks where the kernel stops early */

struct cut {
	char		*where;
	const char	*why;
	unsigned long	count;
};

static struct cut *cuts;
static size_t num_cuts;

static void count_cut(const struct recorded *recorded)
{
	const char *where;
	struct cut *cut;

	if (recording_is_end(recorded->reason))
		return;
	where = map_name(recorded->ips[recorded->num - 1]);
	for (cut = cuts; cut < cuts + num_cuts; cut++)
		if (cut->why == recorded->reason && !strcmp(cut->where, where))
			break;
	if (cut == cuts + num_cuts) {
		cuts = realloc(cuts, (num_cuts + 1) * sizeof(*cuts));
		if (!cuts)
			err(1, "cuts");
		cut = &cuts[num_cuts++];
		*cut = (struct cut){ .where = strdup(where), .why = recorded->reason };
	}
	cut->count++;
}

static int by_count(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;

	return x->count < y->count ? 1 : -(x->count > y->count);
}

/*
 * The report
 */

static void print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text >= ' ' && *text < 127 ? *text : '?');
	}
	putchar('"');
}

static void report(const char *name, unsigned long samples, unsigned long complete)
{
	unsigned int v;
	size_t i;

	printf("{\"program\": ");
	print_string(name);
	printf(", \"samples\": %lu, \"complete\": %lu, \"verdicts\": {", samples, complete);
	for (v = 0; v < NUM_VERDICTS; v++)
		printf("%s\"%s\": %lu", v ? ", " : "", verdicts[v].key, count[v]);
	printf("}, \"cuts\": [");
	if (num_cuts)
		qsort(cuts, num_cuts, sizeof(*cuts), by_count);
	for (i = 0; i < num_cuts; i++) {
		printf("%s{\"count\": %lu, \"reason\": ", i ? ", " : "", cuts[i].count);
		print_string(cuts[i].why);
		printf(", \"where\": ");
		print_string(cuts[i].where);
		putchar('}');
	}
	printf("]}\n");
}

int main(int argc, char **argv)
{
	unsigned long samples = 0, complete = 0;
	struct recorded recorded;

	if (argc > 1 && !strcmp(argv[1], "-s")) {
		table_serve();
		argc--;
		argv++;
	}
	if (argc != 3 && argc != 4) {
		fputs("usage: same_compare [-s] DIR NAME [ROOT]\n", stderr);
		return 2;
	}
	recording_open(argv[1], argc == 4 ? argv[3] : "");
	dwarf_attach(map_dwfl(), recording_pid());
	fprintf(stderr, "%s:\n", argv[2]);
	while (recording_next(&recorded)) {
		samples++;
		compare(&recorded);
		if (!recorded.stack)
			continue;
		count_cut(&recorded);
		complete += recording_is_end(recorded.reason);
	}
	report(argv[2], samples, complete);
	return count[OURS] || !samples;
}
