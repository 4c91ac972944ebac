/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of one task, for tests of the deferred core with every interleaving.
 *
 * The copy of the core (deferred_copy.c) runs on a task that is only data: thread
 * flags, task work, memory, its current context.  There is a point before and after each
 * access of the core to shared data, and at the steps of the model's own entry
 * and exit path.  A run counts its points.  A plan lists events, and at which points they
 * happen:
 *
 *   MODEL_NMI	  an NMI hits, in which some clients ask
 *   MODEL_IRQ	  an interrupt, where interrupts are on; an NMI may hit it in turn
 *   MODEL_TRACE  a tracer fires right there, in the context that it finds
 *   MODEL_OTHER  the other CPU continues, for some accesses of its own
 *
 * A run is determined by its plan.  deferred_explore.c runs all plans of one event by
 * taking each point of the run without any, and all plans of two by taking each
 * point after the event of each plan of one.
 *
 * The other CPU is a kernel thread that runs only while the task's thread waits for
 * it: never do both run, and nothing depends on time.  All locks of the core are the
 * model's, so the threads may change at each point.
 */
#ifndef _KERNEL_UNWIND_TESTS_DEFERRED_MODEL_H
#define _KERNEL_UNWIND_TESTS_DEFERRED_MODEL_H

#include <kunit/test.h>
#include <linux/list.h>
#include <linux/unwind_deferred.h>

#define MODEL_MAX_POINTS	1024	/* of one run; more are an endless loop */
#define MODEL_MAX_EVENTS	3
#define MODEL_MAX_ASKED		32
#define MODEL_CLIENTS		3
#define MODEL_BUFFERS		4	/* of a page */
#define MODEL_AFTER		BIT(7)	/* in model.can: after an access */
#define MODEL_TO_END		UINT_MAX /* accesses of the other CPU: all */

enum model_kind {
	MODEL_NMI,
	MODEL_IRQ,
	MODEL_TRACE,
	MODEL_OTHER,
	MODEL_KINDS
};

/**
 * struct model_site - a place in the source that has a point before and after it
 * @func: its function
 * @op: its operation
 * @line: its line
 * @core: it is in the code under test
 * @added: it is in the list of all sites
 * @list: all sites
 * @seen: how often a run reached it
 * @open: how often an NMI could have hit, before and after it
 * @hit: how often a nested event did happen, before and after it
 * @nmi: how often that was an NMI
 */
struct model_site {
	const char		*func;
	const char		*op;
	unsigned int		line;
	bool			core;
	bool			added;
	struct list_head	list;
	unsigned long		seen;
	unsigned long		open[2];
	unsigned long		hit[2];
	unsigned long		nmi[2];
};

#define MODEL_SITE(_op, _core)						\
	static struct model_site __site = {				\
		.func = __func__, .op = (_op), .line = __LINE__, .core = (_core) }

/* A point of the model's own */
#define MODEL_STEP(op)							\
do {									\
	MODEL_SITE(op, false);						\
	model_point(&__site, false);					\
} while (0)

/**
 * struct model_event - an event of a plan
 * @point: its point, counted from 0
 * @kind: its kind
 * @arg: the clients that ask, a bit for each; the number of accesses for
 *	MODEL_OTHER
 * @site: the site of the point
 * @after: after the access
 */
struct model_event {
	unsigned int		point;
	enum model_kind		kind;
	unsigned int		arg;
	const struct model_site	*site;
	bool			after;
};

enum model_client_state {
	MODEL_UNKNOWN,
	MODEL_REGISTERING,
	MODEL_REGISTERED,
	MODEL_CANCELLING,
	MODEL_CANCELLED,
};

struct model_client {
	struct unwind_work	work;
	enum model_client_state	state;
};

/**
 * struct model_asked - the record of a client, for one name of an entry's stack
 * @client: number of the client
 * @entry: number of the name
 * @cookie: that name
 * @queued: number of requests that returned 0: the callback will come
 * @known: number of requests that returned 1: the client had asked before
 * @called: number of callbacks
 */
struct model_asked {
	unsigned int		client;
	unsigned int		entry;
	u64			cookie;
	unsigned int		queued;
	unsigned int		known;
	unsigned int		called;
};

/* Read sections of the task: how deep, and how many have ended */
struct model_section {
	unsigned int		depth;
	unsigned int		ended;
};

/**
 * struct model_scenario - actions of the task, and events that can happen meanwhile
 * @name: of the test
 * @task: the task does this
 * @other: another CPU does this meanwhile
 * @called: a client's callback does this
 * @late: a tracer does this on the exit path, after it last read the flags
 * @slow: a tracer does this each time that the exit path has done some work
 * @kinds: for the first, second, third event of a plan: kinds to try
 * @sets: sets of clients that ask in an event; 1, 2 and 3 if there are none
 * @ticks: jiffies that pass before each event
 * @each_side: longer plans take points before and after each access
 * @no_memory: there is no memory for the task's buffer
 * @no_stack: the unwind fails
 * @no_work: task work cannot be queued; then no promise is kept
 */
struct model_scenario {
	const char		*name;
	void			(*task)(void);
	void			(*other)(void);
	void			(*called)(unsigned int client);
	void			(*late)(void);
	void			(*slow)(void);
	unsigned int		kinds[MODEL_MAX_EVENTS];
	unsigned int		sets[4];
	unsigned int		ticks;
	bool			each_side;
	bool			no_memory;
	bool			no_stack;
	bool			no_work;
};

/**
 * struct model - the only task, and its current run
 * @test: for reports
 * @scenario: the scenario that is run
 * @task: the task; only members that the core reads are valid
 * @memory: for buffers, a page
 * @clients: clients of the copy of the core
 * @events: the plan
 * @nr_events: number of its events
 * @can: the kinds of events that are possible at each point, and MODEL_AFTER
 * @running: points count
 *
 * The other members begin anew with each run:
 *
 * @flags: the task's thread flags
 * @work: its task work, if it is queued
 * @work_exited: no more can be queued
 * @irqs_off: interrupts are off
 * @irq_pending: an interrupt will come once they are on
 * @in_user: the task has left the kernel, but the program has not run
 * @hardirq: nesting of interrupts
 * @nmi: nesting of NMIs
 * @cpu: the task's CPU
 * @rcu: its read sections of RCU
 * @srcu: its read sections of SRCU
 * @locked: the mutex of the core is held
 * @allocated: the buffers that are in use, a bit for each
 * @next_event: the event that comes next
 * @points: points so far
 * @asked: the record of promises and callbacks
 * @nr_asked: number of its members
 * @entry: number of the stack's name: a new one in each entry into the kernel, or later
 * @name: that name
 * @last_requests: its requests, as last seen
 * @jiffies: the time
 * @delivered: when the last callback ended
 * @worked: when its task work ended; in the future if cookies do not expire in this entry
 * @delivering: its task work runs
 * @calling: a callback runs
 * @user_runs: how often the program ran
 * @unwound: its stack was taken for this name
 * @closing: requests may be refused
 * @closed: requests must be refused
 * @dead: the task has no mm any more
 * @failed: the first failure
 * @failed_at: its place
 * @last_site: the task's current site
 */
struct model {
	struct kunit			*test;
	const struct model_scenario	*scenario;
	struct task_struct		*task;
	void				*memory;
	struct model_client		clients[MODEL_CLIENTS];
	struct model_event		events[MODEL_MAX_EVENTS];
	unsigned int			nr_events;
	u8				can[MODEL_MAX_POINTS];
	bool				running;

	struct_group(run, /* all below */
		unsigned long		flags;
		struct callback_head	*work;
		bool			work_exited;
		bool			irqs_off;
		bool			irq_pending;
		bool			in_user;
		unsigned int		hardirq;
		unsigned int		nmi;
		unsigned int		cpu;
		struct model_section	rcu;
		struct model_section	srcu;
		bool			locked;
		unsigned long		allocated;
		unsigned int		next_event;
		unsigned int		points;
		struct model_asked	asked[MODEL_MAX_ASKED];
		unsigned int		nr_asked;
		unsigned int		entry;
		u64			name;
		unsigned long		last_requests;
		unsigned long		jiffies;
		unsigned long		delivered;
		unsigned long		worked;
		bool			delivering;
		bool			calling;
		unsigned int		user_runs;
		bool			unwound;
		bool			closing;
		bool			closed;
		bool			dead;
		const char		*failed;
		const struct model_site	*failed_at;
		const struct model_site	*last_site;
	);
};

extern struct model model;

/* Points and contexts */
void model_point(struct model_site *site, bool after);
void model_add_site(struct model_site *site);
void model_fail(const char *what);
void model_expect(bool ok, const char *what);
bool model_irqs_disabled(void);
void model_irqs_on(void);
void model_raise_irq(void);
void model_in_irq(unsigned int clients);
void model_in_nmi(unsigned int clients);
void model_later(unsigned int ticks);
int model_enter(struct model_section *section);
void model_leave(struct model_section *section);
void model_sync(struct model_section *section);
void model_lock(void);
void model_unlock(void);

/* The task */
int model_task_work_add(struct task_struct *task, struct callback_head *work,
			int mode);
bool model_task_work_cancel(struct task_struct *task, struct callback_head *work);
void model_task_work_run(void);
void *model_alloc(size_t size, gfp_t gfp);
void model_free(void *p);
int model_unwind_walk(struct unwind_stacktrace *trace, unsigned int max);
void model_to_user(void);
void model_exec(void);
void model_exit(void);

/* The clients, and the promises to them */
void model_register(unsigned int client);
void model_cancel(unsigned int client);
void model_ask(unsigned int client);
void model_accessed(void);
void model_check_served(void);
void model_check_user(void);
void model_check_dead(void);

/* The other CPU */
int model_other_start(void);
void model_other_stop(void);
void model_other_reset(void);
void model_other_run(unsigned int accesses);
void model_other_finish(void);
void model_other_point(bool after);
bool model_other_running(void);
bool model_other_waits(void);
bool model_other_done(void);
unsigned int model_other_made(void);

/**
 * struct model_counts - statistics
 * @runs: runs
 * @points: points of all runs
 * @events: events, by kind
 */
struct model_counts {
	unsigned long		runs;
	unsigned long		points;
	unsigned long		events[MODEL_KINDS];
};

/* For a suite: set up the model, and give it back */
int model_create(void);
void model_destroy(void);

/* A task that has just entered the kernel, and two clients, A and B */
void model_reset(const struct model_scenario *scenario);

/* All plans of a scenario; stops at the first failure, which it reports */
void model_explore(struct kunit *test, const struct model_scenario *scenario,
		   struct model_counts *counts);

extern struct list_head model_sites;

#endif /* _KERNEL_UNWIND_TESTS_DEFERRED_MODEL_H */
