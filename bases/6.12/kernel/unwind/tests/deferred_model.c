// SPDX-License-Identifier: GPL-2.0
/*
 * The model of a task: points, and the events at them.
 *
 * Contexts nest as on a CPU: an NMI hits wherever there is none yet, an interrupt
 * where interrupts are on; each runs to its end.  An interrupt that is raised
 * while they are off stays pending, and comes as soon as they are on.  In the
 * kernel it has no further effect; on a return to user space, it makes the
 * task go through the exit path once more before the program runs.
 */

#include <linux/thread_info.h>

#include "deferred_model.h"

struct model model;
LIST_HEAD(model_sites);

/* The first failure is the one that is reported */
void model_fail(const char *what)
{
	if (model.failed)
		return;
	model.failed = what;
	model.failed_at = model.last_site;
}

void model_expect(bool ok, const char *what)
{
	if (!ok)
		model_fail(what);
}

void model_add_site(struct model_site *site)
{
	if (site->added)
		return;
	site->added = true;
	list_add_tail(&site->list, &model_sites);
}

/*
 * Contexts
 */

bool model_irqs_disabled(void)
{
	return model.irqs_off || model.hardirq || model.nmi;
}

/* A pending interrupt comes now, if it can. In user space the caller handles it */
static void take_irq(void)
{
	if (!model_irqs_disabled() && !model.in_user)
		model.irq_pending = false;
}

void model_irqs_on(void)
{
	model.irqs_off = false;
	take_irq();
}

void model_raise_irq(void)
{
	model.irq_pending = true;
	take_irq();
}

void model_later(unsigned int ticks)
{
	model.jiffies += ticks;
}

static void ask_all(unsigned int clients)
{
	unsigned int client;

	for (client = 0; client < MODEL_CLIENTS; client++)
		if (clients & BIT(client))
			model_ask(client);
}

void model_in_nmi(unsigned int clients)
{
	bool in_user = model.in_user;

	model.in_user = false;
	model.nmi++;
	model_enter(&model.rcu);
	ask_all(clients);
	model_leave(&model.rcu);
	model.nmi--;
	model.in_user = in_user;
	take_irq();
}

void model_in_irq(unsigned int clients)
{
	bool in_user = model.in_user;

	model.in_user = false;
	model.hardirq++;
	model_enter(&model.rcu);
	ask_all(clients);
	model_leave(&model.rcu);
	model.hardirq--;
	model.in_user = in_user;
	/* If it came from user space, it ends with the exit path */
	model.irq_pending = in_user;
}

/*
 * Read sections of the task, and waits for their end
 */

int model_enter(struct model_section *section)
{
	if (!model_other_running())
		section->depth++;
	return 0;
}

void model_leave(struct model_section *section)
{
	if (model_other_running())
		return;
	if (!section->depth) {
		model_fail("a read section ends that did not begin");
		return;
	}
	if (!--section->depth)
		section->ended++;
}

/* Later sections do not count, as for synchronize_rcu() */
void model_sync(struct model_section *section)
{
	unsigned int ended = section->ended;

	while (section->depth && section->ended == ended) {
		if (!model_other_waits()) {
			model_fail("waits for itself");
			break;
		}
	}
}

void model_lock(void)
{
	while (model.locked) {
		if (!model_other_waits()) {
			model_fail("waits for a lock for ever");
			break;
		}
	}
	model.locked = true;
}

void model_unlock(void)
{
	model_expect(model.locked, "unlocks what is not locked");
	model.locked = false;
}

/*
 * Points
 */

static unsigned int possible(void)
{
	unsigned int can = 0;

	if (!model.nmi)
		can |= BIT(MODEL_NMI);
	if (!model_irqs_disabled())
		can |= BIT(MODEL_IRQ);
	if (!model.in_user)
		can |= BIT(MODEL_TRACE);
	if (!model_other_done())
		can |= BIT(MODEL_OTHER);
	return can;
}

static void fire(struct model_event *event, struct model_site *site, bool after)
{
	event->site = site;
	event->after = after;
	site->hit[after]++;
	model_later(model.scenario->ticks);

	switch (event->kind) {
	case MODEL_NMI:
		site->nmi[after]++;
		model_in_nmi(event->arg);
		break;
	case MODEL_IRQ:
		model_in_irq(event->arg);
		break;
	case MODEL_TRACE:
		ask_all(event->arg);
		break;
	case MODEL_OTHER:
		model_other_run(event->arg);
		break;
	default:
		model_fail("a plan has a kind of event that is not known");
	}
}

/* Only the end of this thread ends an endless loop */
static void endless(void)
{
	model_fail("loops for ever");
	KUNIT_FAIL(model.test, "%s: %s", model.scenario->name, model.failed);
	kunit_try_catch_throw(&model.test->try_catch);
}

void model_point(struct model_site *site, bool after)
{
	struct model_event *event;

	if (!model.running)
		return;
	model_add_site(site);
	site->seen += !after;
	if (model_other_running()) {
		model_other_point(after);
		return;
	}

	model.last_site = site;
	site->open[after] += !model.nmi;
	for (;;) {
		unsigned int nr = model.points++;

		if (model.points >= MODEL_MAX_POINTS)
			endless();
		model.can[nr] = possible() | (after ? MODEL_AFTER : 0);
		event = &model.events[model.next_event];
		if (model.next_event == model.nr_events || event->point != nr)
			return;
		model.next_event++;
		if (WARN_ON_ONCE(!(model.can[nr] & BIT(event->kind))))
			return;
		fire(event, site, after);
		/* There is a point again after it: another event may follow at once */
	}
}
