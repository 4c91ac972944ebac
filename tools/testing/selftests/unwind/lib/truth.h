/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Many sampled stacks, judged by known functions.
 *
 * For each function in a list, its instructions and its return address are known, because
 * it is called from one place only. So a stack that comes from such a function is right,
 * or stops in one, or is wrong, whenever the sample was taken.
 *
 * A stack that comes from elsewhere proves nothing: the C library has neither tables nor
 * frame pointers. The value in that register can continue the stack anywhere, by words
 * that earlier calls left on the stack even into these functions.
 */
#ifndef SELFTEST_UNWIND_TRUTH_H
#define SELFTEST_UNWIND_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Instructions from @start up to @end; the function returns to @ra */
struct truth_func {
	unsigned long	start;
	unsigned long	end;
	unsigned long	ra;
};

#define TRUTH_MAX	128

/* @base: the return address of the outermost functions */
struct truth {
	unsigned int		nr;
	struct truth_func	func[TRUTH_MAX];
	unsigned long		base;
};

void truth_add(struct truth *truth, const struct truth_func *func,
	       unsigned int nr);

/*
 * Numbers of stacks. @right: went from one of the functions up to the base; @ended:
 * stopped in one; @wrong: continued to a wrong return address. @elsewhere: came from
 * elsewhere; @probes: from run_probe(), which has a false frame record. @lost: records
 * that did not fit into the buffer.
 */
struct tally {
	unsigned long	right;
	unsigned long	ended;
	unsigned long	wrong;
	unsigned long	elsewhere;
	unsigned long	probes;
	unsigned long	lost;
};

/* Count one stack, innermost first; print the first wrong ones */
void truth_judge(const struct truth *truth, const uint64_t *ip, uint64_t nr,
		 struct tally *tally);

void tally_add(struct tally *sum, const struct tally *more);

/*
 * Events for the stacks to be judged: system call getppid(), page faults, context
 * switches and a clock, all in one buffer.
 */
struct ring;
struct watch {
	int		fd[4];
	struct ring	*ring;
};

#define WATCH_CALLS	0x1	/* getppid() */
#define WATCH_CLOCK	0x2	/* every 100 us, or as often as is possible */
#define WATCH_FAULTS	0x4
#define WATCH_SWITCHES	0x8
#define WATCH_SYSCALLS	0x10	/* all system calls, in place of WATCH_CALLS */
#define WATCH_ALL	(WATCH_CLOCK | WATCH_FAULTS | WATCH_SWITCHES | \
			 WATCH_SYSCALLS)

/*
 * Events of a task (0: this thread), disabled. With a CPU: of the task and its
 * descendants while they are on that CPU. 0, or -1 and errno.
 */
int watch_open(struct watch *watch, int pid, int cpu, unsigned int what,
	       size_t pages);
void watch_close(struct watch *watch);
int watch_enable(struct watch *watch);
int watch_disable(struct watch *watch);

/* Judge all stacks in the buffer; false if there was none */
bool watch_judge(struct watch *watch, const struct truth *truth,
		 struct tally *tally);

#endif /* SELFTEST_UNWIND_TRUTH_H */
